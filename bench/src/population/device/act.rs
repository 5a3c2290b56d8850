//! What a device says: commands made of deeds, and handed over until they are answered.

use super::{Connection, Device, Pending};
use crate::{
    client::{ClientError, wire::State},
    population::deed::{Act, Deed, What, digest_of_text},
};

/// Of the newest messages of a conversation, one of so many is quoted or deleted.
const NEWEST: usize = 10;

impl Device {
    /// Makes a command of a deed, if there is something that it could concern.
    pub(super) async fn act(&mut self, c: &mut Connection, deed: Deed) -> Result<(), ClientError> {
        let (conv, what) = match deed {
            Deed::Say { conv, text, names, quotes } => {
                let quoted = if quotes { self.shown(&conv) } else { None };
                let id = self.dice.uuid();
                let digest = digest_of_text(&text, &names, quoted);
                self.world.ledger.say(&conv, self.uid, id, digest);
                (conv, Some(What::Send { id, text, names, quoted }))
            }
            Deed::Recall { conv } => {
                let newest = self.replica.kept.get(&conv).and_then(|kept| kept.newest_of(self.uid));
                (conv, newest.map(|seq| What::Recall { seq }))
            }
            Deed::Delete { conv } => {
                let shown = self.shown(&conv);
                (conv, shown.map(|seq| What::Delete { seq }))
            }
        };
        match what {
            Some(what) => self.command(c, Act { conv, what }).await,
            None => Ok(()),
        }
    }

    /// One of the newest messages of a conversation that the device shows in full.
    fn shown(&mut self, conv: &str) -> Option<u64> {
        let kept = self.replica.kept.get(conv)?;
        let newest = kept.seqs().rev().take(NEWEST);
        let shown: Vec<u64> = newest.filter(|seq| kept.state(*seq) == Some(State::Normal)).collect();
        self.dice.one(&shown).copied()
    }

    /// Hands a new command over.
    pub(super) async fn command(&mut self, c: &mut Connection, act: Act) -> Result<(), ClientError> {
        self.acts += 1;
        self.pending.insert(self.acts, Pending { act, tries: 0 });
        self.hand_over(c, self.acts).await
    }

    async fn hand_over(&mut self, c: &mut Connection, number: u64) -> Result<(), ClientError> {
        let Some(pending) = self.pending.get_mut(&number) else { return Ok(()) };
        pending.tries += 1;
        c.flying.insert(number);
        let (op, fields) = (pending.act.op(), pending.act.fields());
        c.socket.ask(&number.to_string(), op, fields).await
    }

    /// Says again what has no answer, in the first order.
    pub(super) async fn say_again(&mut self, c: &mut Connection) -> Result<(), ClientError> {
        c.again_at = None;
        let waiting: Vec<u64> = self.pending.keys().copied().filter(|it| !c.flying.contains(it)).collect();
        for number in waiting {
            self.hand_over(c, number).await?;
        }
        Ok(())
    }
}
