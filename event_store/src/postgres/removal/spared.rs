//! What a removal leaves where it is, because a hold stands.

use deadpool_postgres::{Object, Pool};
use domain::{ConvId, Hold, StreamKind, Uid};

use super::{
    super::{
        holds::{self, HoldOn},
        rows,
    },
    query,
};
use crate::{handler::pieces::KEEPING, port::StoreError, postgres::failure::unavailable};

const DOING: &str = "read what holds spare";

/// As the holds were when it was made. The last step of a removal looks again, and begins anew where they have changed.
#[derive(Debug, Clone, Default)]
pub struct Spared {
    /// The holds from which this follows.
    pub(super) holds: Vec<(HoldOn, Hold)>,
    /// Message streams of conversations that are held: all of them stays.
    pub(super) streams: Vec<i64>,
    /// Message streams of conversations in which a person is or was who is held, and up to where retention has let
    /// them expire: that much stays.
    pub(super) person_streams: Vec<i64>,
    pub(super) person_expired: Vec<i64>,
    /// Persons who are held: what they said stays.
    pub(super) people: Vec<i64>,
}

impl Spared {
    /// The persons who are held now.
    pub async fn people(pool: &Pool) -> Result<Vec<Uid>, StoreError> {
        let client = pool.get().await.map_err(|error| unavailable(DOING, error))?;
        let person = |(on, _)| match on {
            HoldOn::Person(uid) => Some(uid),
            HoldOn::Conversation(_) => None,
        };
        Ok(holds::all(&client).await?.into_iter().filter_map(person).collect())
    }

    /// What stands now, with the conversations in which held persons are or were.
    pub async fn new(pool: &Pool, of_people: &[ConvId]) -> Result<Self, StoreError> {
        let client = pool.get().await.map_err(|error| unavailable(DOING, error))?;
        let mut spared = Self { holds: holds::all(&client).await?, ..Self::default() };
        for (on, _) in &spared.holds {
            match on {
                HoldOn::Person(uid) => spared.people.push(uid.get() as i64),
                HoldOn::Conversation(conv) => {
                    let found = streams(&client, std::slice::from_ref(conv)).await?;
                    spared.streams.extend(found.into_iter().map(|(stream, _)| stream));
                }
            }
        }
        let found = streams(&client, of_people).await?;
        (spared.person_streams, spared.person_expired) = found.into_iter().unzip();
        Ok(spared)
    }

    /// A name for the holds as they stand: another one where any has come or gone.
    pub(super) fn fingerprint(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for (on, hold) in &self.holds {
            hasher.update(format!("{}\n{}\n", on.cord(), hold.at).as_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }

    /// Do the holds stand as they did?
    pub(super) async fn still_stands(&self, client: &Object) -> Result<bool, StoreError> {
        Ok(holds::all(client).await? == self.holds)
    }
}

/// Message streams, and up to where each has expired.
async fn streams(client: &Object, convs: &[ConvId]) -> Result<Vec<(i64, i64)>, StoreError> {
    let texts: Vec<&str> = convs.iter().map(ConvId::as_str).collect();
    let found = query(client, DOING, include_str!("expired.sql"), &[&texts, &KEEPING]).await?;
    let stream = |row: &tokio_postgres::Row| {
        (rows::stream_id(row.get(0), Some(StreamKind::Message)), row.get::<_, i64>(1))
    };
    Ok(found.iter().map(stream).collect())
}
