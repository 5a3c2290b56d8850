//! What comes in over the WebSocket: every push goes through the checks and into the replica.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use super::{Connection, Device};
use crate::{
    client::{
        ClientError,
        socket::Heard,
        wire::{Item, Push},
    },
    population::{fault::Kind, ledger::Tick, order::Complaint, replica::Kept},
};

impl Device {
    /// Takes in what comes for a while.
    pub(super) async fn listen(&mut self, c: &mut Connection, time: Duration) -> Result<(), ClientError> {
        let end = Instant::now() + time;
        // What is cut off by the end of the while is read the next time.
        while let Ok(heard) = timeout_at(end, c.socket.next()).await {
            self.take(c, heard?);
        }
        Ok(())
    }

    /// Takes in one frame.
    pub(super) fn take(&mut self, c: &mut Connection, heard: Heard) {
        match heard {
            Heard::Answer(id, outcome) => match id.parse() {
                Ok(number) => self.answered(c, number, outcome),
                Err(_) => self.fault(Kind::Answer, format!("an answer to {id:?}: {outcome:?}")),
            },
            Heard::Push(push) => self.pushed(c, &push),
        }
    }

    pub(super) fn fault(&self, kind: Kind, what: impl std::fmt::Display) {
        self.world.fault(kind, format!("{}: {what}", self.name));
    }

    fn complain(&self, complaint: Option<Complaint>) {
        if let Some((kind, what)) = complaint {
            self.fault(kind, what);
        }
    }

    /// A message that the device is told, by whatever way, in answer to something asked then.
    pub(super) fn told(&mut self, conv: &str, item: &Item, asked: Tick) {
        self.world.ledger.told(conv, self.uid, item, asked);
        self.replica.take_item(conv, item);
    }

    fn pushed(&mut self, c: &mut Connection, push: &Push) {
        self.world.tally.pushes.add();
        let conv = push.conv_id.as_str();
        if !conv.is_empty() {
            let what = format!("a push ({})", push.push);
            self.world.ledger.heard_of(conv, self.uid, c.opened, &what);
        }
        match push.push.as_str() {
            "message" => self.message(c, push),
            "recalled" => {
                let seq = push.seq.unwrap_or_default();
                self.complain(c.order.recalled(conv, seq));
                self.replica.recall(conv, seq);
            }
            "deleted" => {
                c.order.deleted(conv, &push.seqs);
                self.replica.delete(conv, &push.seqs);
            }
            "read" => {
                let (uid, seq) = (push.uid.unwrap_or_default(), push.read_seq.unwrap_or_default());
                self.complain(c.order.read(conv, uid, seq));
                self.replica.read(conv, uid, seq);
            }
            "member" if push.joined.contains(&self.uid) => {
                c.order.joined(conv);
                c.joined.insert(conv.to_owned());
                self.replica.join(conv);
            }
            "resync" => {
                self.world.tally.resyncs.add();
                c.order.resync();
                c.resync = true;
                // From before what is missing; where the device is catching up already it goes on from its own.
                if c.whole
                    && let Some(cursor) = &push.cursor
                {
                    self.cursor = Some(cursor.clone());
                }
                c.whole = false;
            }
            // Others' coming and going, what a group is called, and what later servers add.
            _ => {}
        }
        if c.whole
            && let Some(cursor) = &push.cursor
        {
            self.cursor = Some(cursor.clone());
        }
    }

    fn message(&mut self, c: &mut Connection, push: &Push) {
        let conv = push.conv_id.as_str();
        let Some(item) = &push.item else {
            return self.fault(Kind::Answer, format!("{conv}: a message without an item was pushed"));
        };
        let next = self.replica.kept.get(conv).map_or(Some(1), Kept::next);
        let due = next.filter(|_| c.whole && !c.incomplete.contains(conv));
        self.complain(c.order.message(conv, item, due));
        self.told(conv, item, c.opened);
        self.notice(conv);
    }
}
