//! Digests of bodies that are to go: a page at a time, each with the mark that its month is to be written anew.

use std::collections::BTreeSet;

use deadpool_postgres::{Object, Pool};
use domain::{ConvId, Seq, StreamKind, Uid};
use tokio_postgres::Row;

use super::{super::rows, query};
use crate::{
    chain,
    port::StoreError,
    postgres::failure::{corrupt, unavailable},
    recorded::StreamName,
};

const DOING: &str = "note the digests of bodies that go";
/// Bodies that are read at once; of the largest 16 MB.
const PAGE: i64 = 256;

/// How much is to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Noted {
    /// Messages.
    pub messages: u64,
    /// Bytes of their bodies.
    pub bytes: u64,
}

impl std::ops::AddAssign for Noted {
    fn add_assign(&mut self, other: Self) {
        self.messages += other.messages;
        self.bytes += other.bytes;
    }
}

/// The bodies of these messages are to go.
pub async fn note_seqs(pool: &Pool, conv: &ConvId, seqs: &[Seq]) -> Result<Noted, StoreError> {
    let client = client(pool).await?;
    let Some(stream) = stream_of(&client, conv).await? else { return Ok(Noted::default()) };
    let mut noted = Noted::default();
    for some in seqs.chunks(PAGE as usize) {
        let versions: Vec<i64> = some.iter().map(|seq| seq.get() as i64).collect();
        let bodies = query(&client, DOING, include_str!("bodies_at.sql"), &[&stream, &versions]).await?;
        noted += note(&client, &bodies, None).await?;
    }
    Ok(noted)
}

/// The bodies of all messages up to here are to go. Goes on where an earlier one ended.
pub async fn note_up_to(pool: &Pool, conv: &ConvId, up_to: Seq) -> Result<Noted, StoreError> {
    let client = client(pool).await?;
    let Some(stream) = stream_of(&client, conv).await? else { return Ok(Noted::default()) };
    let stands = query(&client, DOING, include_str!("retained.sql"), &[&stream]).await?;
    let mut after: i64 = stands.first().map_or(0, |row| row.get(0));
    let mut noted = Noted::default();
    while after < up_to.get() as i64 {
        let to = (after + PAGE).min(up_to.get() as i64);
        let bodies =
            query(&client, DOING, include_str!("bodies_between.sql"), &[&stream, &after, &to]).await?;
        noted += note(&client, &bodies, Some((stream, to))).await?;
        after = to;
    }
    Ok(noted)
}

/// Messages of a person whose bodies are in the log and not to go yet, among those of the next `window` after a seq:
/// which, and where the next look begins; none once the conversation is over.
pub async fn of_person(
    pool: &Pool,
    conv: &ConvId,
    uid: Uid,
    after: Seq,
    window: u32,
) -> Result<(Vec<Seq>, Option<Seq>), StoreError> {
    let doing = "look for what somebody said";
    let client = client(pool).await?;
    let Some(stream) = stream_of(&client, conv).await? else { return Ok((vec![], None)) };
    let (from, to) = (after.get() as i64, after.get() as i64 + i64::from(window));
    let heads = query(&client, doing, include_str!("../stream_heads.sql"), &[&vec![stream]]).await?;
    let head: i64 = heads.first().map_or(0, |row| row.get(1));
    let uid = uid.get() as i64;
    let rows = query(&client, doing, include_str!("of_person.sql"), &[&stream, &from, &to, &uid]).await?;
    let seqs = rows.iter().map(|row| Seq::new(row.get::<_, i64>(0) as u64)).collect();
    Ok((seqs, (to < head).then(|| Seq::new(to as u64))))
}

async fn client(pool: &Pool) -> Result<Object, StoreError> {
    pool.get().await.map_err(|error| unavailable(DOING, error))
}

/// The key of a conversation's message stream; none where there is no such conversation.
async fn stream_of(client: &Object, conv: &ConvId) -> Result<Option<i64>, StoreError> {
    let cord = StreamName::new(conv, StreamKind::Message).cord().into_owned();
    let found = query(client, DOING, include_str!("../conversation_numbers.sql"), &[&vec![cord]]).await?;
    Ok(found.first().map(|row| rows::stream_id(row.get(1), Some(StreamKind::Message))))
}

/// In one transaction: the digests, the months, and how far retention has come with a stream.
async fn note(client: &Object, bodies: &[Row], come_to: Option<(i64, i64)>) -> Result<Noted, StoreError> {
    let (mut shards, mut positions, mut digests) = (Vec::new(), Vec::new(), Vec::new());
    let mut months: BTreeSet<i64> = BTreeSet::new();
    let mut noted = Noted::default();
    for row in bodies {
        let (salt, bytes): (&[u8], &[u8]) = (row.get("salt"), row.get("bytes"));
        let salt: &[u8; 16] =
            salt.try_into().map_err(|_| corrupt(DOING, format!("a salt of {} bytes", salt.len())))?;
        shards.push(row.get::<_, i16>("shard"));
        positions.push(row.get::<_, i64>("position"));
        digests.push(chain::digest(salt, bytes).to_vec());
        months.insert(row.get("month"));
        noted += Noted { messages: 1, bytes: bytes.len() as u64 };
    }
    let months: Vec<i64> = months.into_iter().collect();
    let (stream, up_to) = come_to.unzip();
    let params: [&(dyn tokio_postgres::types::ToSql + Sync); 6] =
        [&shards, &positions, &digests, &months, &stream, &up_to];
    query(client, DOING, include_str!("note.sql"), &params).await?;
    Ok(noted)
}
