//! Compares read models with the log: each conversation is told again from its events by [`domain::Replay`], and
//! what the tables hold and what is served must be the same, at an equal position.
//!
//! A snapshot says with its checkpoint exactly which events it has seen. So it is read and given back first, and
//! then the log is told to that very position: however busy the conversation is and however far the projector is
//! behind, the two are at one moment, and no transaction waits for a reading of the log.

pub mod drift;
mod history;
mod people;
mod views;

use std::{sync::Arc, time::Duration};

use domain::{ConvId, Event, Uid};
use event_store::{EventStore, Position, Recorded, Shard, StoreError};
use tokio::time::sleep;
use tokio_postgres::Row;

pub use self::drift::{DRIFTS_TOLD, Drift, Drifts};
use crate::{
    CONVERSATION, Generation, checkpoint,
    past::{PastError, told::Told},
    query::QueryError,
    snapshot::{Ask, Snapshot},
};

const DOING: &str = "verify a conversation";

/// Members of one conversation through whose eyes it is looked at; of more than that some are taken, others each
/// time. What the tables hold is compared of everybody.
pub const VIEWERS_MAX: usize = 64;

/// The first wait for something to be taken out of the read models, doubled with each further one.
const REMOVAL_PAUSE: Duration = Duration::from_millis(100);
/// Past this a conversation is left for another time.
const REMOVAL_PAUSE_MAX: Duration = Duration::from_secs(2);

/// What came of one conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// Up to which position of its shard.
    pub position: Position,
    /// The read models have not come to the conversation's last event yet; up to where they are, they were compared.
    pub behind: bool,
    /// How many messages it has.
    pub messages: u64,
    /// How many are in it.
    pub members: u64,
    /// Through how many members' eyes it was looked at.
    pub viewers: u64,
    /// It was not looked at: an event of it could not be applied, and it waits for an operator.
    pub parked: bool,
    /// It was not compared: what retention or an erasure takes is being taken out of the read models just now.
    pub removing: bool,
    /// Where the read models are not what the log says.
    pub drifts: Drifts,
}

/// Why a conversation was not compared.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// The log.
    #[error(transparent)]
    Past(#[from] PastError),
    /// The read models.
    #[error(transparent)]
    ReadModels(#[from] QueryError),
}

impl From<StoreError> for VerifyError {
    fn from(error: StoreError) -> Self {
        Self::Past(error.into())
    }
}

/// Compares. Cheap to clone.
#[derive(Clone)]
pub struct Verifier {
    store: Arc<dyn EventStore>,
    generation: Generation,
    pause: Duration,
}

impl Verifier {
    /// Of one generation of the read models and the log behind it. Nothing has to follow the log meanwhile.
    pub fn new(store: Arc<dyn EventStore>, generation: Generation) -> Self {
        Self { store, generation, pause: Duration::ZERO }
    }

    /// Rests before every snapshot: for one who works beside a server that has other things to do.
    pub fn resting(self, pause: Duration) -> Self {
        Self { pause, ..self }
    }

    /// Compares one conversation. `turn` says which members are taken where there are many.
    pub async fn conversation(&self, conv: &ConvId, turn: u64) -> Result<Verified, VerifyError> {
        let mut pause = REMOVAL_PAUSE;
        loop {
            let verified = self.compared(conv, turn).await?;
            if !verified.removing || pause > REMOVAL_PAUSE_MAX {
                return Ok(verified);
            }
            sleep(pause).await;
            pause *= 2;
        }
    }

    /// Compares it once.
    async fn compared(&self, conv: &ConvId, turn: u64) -> Result<Verified, VerifyError> {
        let head = self.store.conversation_position(conv).await?;
        if head == Position::START {
            return Err(PastError::NoSuchConversation(conv.clone()).into());
        }
        let mut drifts = Drifts::of(conv);
        let mut told = Told::new(&*self.store, conv);
        told.replay.watch_everybody();
        let (position, mut parked) = self.is_parked(conv).await?;
        told.marks_to(position).await?;
        let mut viewers = vec![];
        if !parked {
            self.history(&mut told, &mut drifts).await?;
            self.people(&mut told, &mut drifts).await?;
            viewers = sample(told.replay.members(), turn);
            for viewer in &viewers {
                self.views(&mut told, *viewer, &mut drifts).await?;
            }
        }
        // What was parked meanwhile was not projected any more.
        if drifts.count > 0 && self.is_parked(conv).await?.1 {
            (parked, drifts) = (true, Drifts::of(conv));
        }
        let removing = drifts.count > 0 && self.was_removing(&told).await?;
        if removing {
            drifts = Drifts::of(conv);
        }
        Ok(Verified {
            position: told.position,
            behind: told.position < head,
            messages: told.replay.max_seq().get(),
            members: told.replay.members().len() as u64,
            viewers: viewers.len() as u64,
            parked,
            removing,
            drifts,
        })
    }

    /// What is taken out of the read models goes before their checkpoint passes the event that says so. Was that so at
    /// one of the positions at which we looked?
    async fn was_removing(&self, told: &Told<'_>) -> Result<bool, VerifyError> {
        let shard = Shard::of(told.replay.conv(), self.store.info().shards);
        for stop in &told.stops {
            let next = self.store.read_shard(shard, *stop, 1).await?;
            let of = |event: &&Recorded| event.header.stream.conv() == Some(told.replay.conv());
            let removal = next.first().filter(of).and_then(|event| event.event().ok());
            if matches!(removal, Some(Event::HistoryExpired { .. } | Event::BodiesErased { .. })) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Where the read models stand, and whether they have given up on this conversation.
    async fn is_parked(&self, conv: &ConvId) -> Result<(Position, bool), VerifyError> {
        let number = self.generation.number();
        let params: [&(dyn tokio_postgres::types::ToSql + Sync); 3] =
            [&CONVERSATION, &number, &conv.as_str()];
        let (_, position, rows) =
            self.look(conv, Ask { sql: include_str!("parked.sql"), params: &params }).await?;
        Ok((position, !rows.is_empty()))
    }

    /// The answer to a question, its snapshot, and which position of the conversation's shard that has passed.
    async fn look(&self, conv: &ConvId, ask: Ask<'_>) -> Result<(Snapshot, Position, Vec<Row>), VerifyError> {
        if !self.pause.is_zero() {
            sleep(self.pause).await;
        }
        let number = self.generation.number();
        let positions = Ask { sql: checkpoint::POSITIONS, params: &[&CONVERSATION, &number] };
        let (snapshot, [positions, rows]) =
            Snapshot::open(self.generation.pool(), DOING, [positions, ask]).await?;
        let positions = checkpoint::positions(&positions).map_err(|error| snapshot.failed(error))?;
        let shard = Shard::of(conv, self.store.info().shards);
        let passed = positions.into_iter().find(|(of, _)| *of == shard);
        Ok((snapshot, passed.map_or(Position::START, |(_, position)| position), rows))
    }
}

/// All, or [`VIEWERS_MAX`] of them at equal distances; other ones at each turn.
fn sample(members: Vec<Uid>, turn: u64) -> Vec<Uid> {
    let step = members.len().div_ceil(VIEWERS_MAX).max(1);
    members.into_iter().skip((turn % step as u64) as usize).step_by(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_member_of_a_huge_group_has_a_turn() {
        let members: Vec<Uid> = (1..=1000).map(|n| Uid::new(n).unwrap()).collect();
        let mut looked: Vec<Uid> = (0..16).flat_map(|turn| sample(members.clone(), turn)).collect();
        assert!((0..16).all(|turn| sample(members.clone(), turn).len() <= VIEWERS_MAX));
        looked.sort();
        assert_eq!(looked, members);
        assert_eq!(sample(members[..64].to_vec(), 7), members[..64]);
    }
}
