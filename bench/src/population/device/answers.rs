//! What an answer to a command means: for the book, for the replica, and for what is said again.

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use tokio::time::Instant;

use super::{Connection, Device, NOT_NOW_PAUSE, Pending};
use crate::{
    client::wire::{Deleted, Problem, ReadState, Sent},
    population::{
        deed::{Act, What},
        fault::Kind,
    },
};

impl Device {
    pub(super) fn answered(
        &mut self,
        c: &mut Connection,
        number: u64,
        outcome: Result<Box<RawValue>, Problem>,
    ) {
        c.flying.remove(&number);
        if outcome.as_ref().is_err_and(Problem::passes) {
            c.again_at.get_or_insert(Instant::now() + NOT_NOW_PAUSE);
            return;
        }
        let Some(Pending { act, tries }) = self.pending.remove(&number) else {
            return self.fault(Kind::Answer, format!("a second answer to {number}: {outcome:?}"));
        };
        match outcome {
            Ok(raw) => self.done(&act, tries, &raw),
            Err(problem) => self.refused(c, &act, &problem),
        }
    }

    fn done(&mut self, act: &Act, tries: u32, raw: &RawValue) {
        let (world, conv) = (&self.world, act.conv.as_str());
        match &act.what {
            What::Send { id, .. } => {
                let Some(sent) = self.read::<Sent>(raw) else { return };
                world.tally.acked.add();
                if sent.duplicate {
                    world.tally.repeated.add();
                    if tries == 1 {
                        self.fault(
                            Kind::Duplicate,
                            format!("{conv}: {id} was sent once and was there already"),
                        );
                    }
                }
                world.ledger.acknowledged(conv, self.uid, *id, &sent);
            }
            What::Recall { seq } => {
                world.tally.recalls.add();
                world.ledger.recalled(conv, *seq);
                self.replica.recall(conv, *seq);
            }
            What::Delete { seq } => {
                let Some(deleted) = self.read::<Deleted>(raw) else { return };
                world.tally.deletes.add();
                // Out of sight, with an earlier stay in the group, nothing can be deleted.
                if deleted.deleted == 1 {
                    world.ledger.deleted(conv, self.uid, *seq);
                    self.replica.delete(conv, &[*seq]);
                }
            }
            What::Read { seq } => {
                let Some(state) = self.read::<ReadState>(raw) else { return };
                world.tally.reads.add();
                if state.read_seq < *seq {
                    self.fault(Kind::Count, format!("{conv}: {seq} was read and {} stands", state.read_seq));
                }
                world.ledger.has_read(conv, self.uid, *seq);
                let uid = self.uid;
                self.replica.read(conv, uid, state.read_seq);
            }
        }
    }

    fn refused(&mut self, c: &mut Connection, act: &Act, problem: &Problem) {
        let conv = act.conv.as_str();
        let out = problem.code == "not_a_member";
        if out {
            c.doubtful.insert(conv.to_owned());
        }
        match &act.what {
            What::Send { id, .. } if out => {
                self.world.tally.refused.add();
                self.world.ledger.refused(conv, self.uid, *id);
            }
            _ if out || act.may_be_refused_with(&problem.code) => {}
            _ => self.fault(Kind::Answer, format!("{act:?} was answered with {problem:?}")),
        }
    }

    fn read<T: DeserializeOwned>(&self, raw: &RawValue) -> Option<T> {
        let read = serde_json::from_str(raw.get());
        if let Err(error) = &read {
            self.fault(Kind::Answer, format!("{error} in {raw}"));
        }
        read.ok()
    }
}
