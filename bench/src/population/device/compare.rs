//! The server's numbers against the device's own count: unread, first mention, last message, positions.
//!
//! While people talk, an answer and the pushes that belong to it arrive one after the other. So a difference counts
//! only if it stands while nothing changes on either side; one that keeps changing is given up and counted apart.

use std::{collections::HashMap, time::Duration};

use hyper::Method;
use tokio::{sync::watch, time::Instant};

use super::{Connection, Device};
use crate::{
    client::{
        ClientError,
        wire::{Conversation, List},
    },
    population::{fault::Kind, replica::Numbers},
};

/// A difference that stands for so long, while nothing changes, is one. Pushes come within it on any machine.
const STANDS: Duration = Duration::from_secs(30);
/// Comparisons after which what still changes is given up.
const ATTEMPTS_MAX: u32 = 10;
/// What is on its way may come for so long between two comparisons, at first.
const PAUSE: Duration = Duration::from_millis(100);
/// And later, at most.
const PAUSE_MAX: Duration = Duration::from_secs(1);
/// Conversations on a page of the list.
const PAGE: u32 = 200;

/// Both sides of a difference.
type Sides = (Option<Numbers>, Option<Numbers>);

impl Device {
    /// Compares all conversations, again where things have changed in between. At the end of the talking it stops: then
    /// there is a stricter comparison.
    pub(super) async fn compare(
        &mut self,
        c: &mut Connection,
        ending: &watch::Receiver<bool>,
    ) -> Result<(), ClientError> {
        let mut standing: HashMap<String, (Sides, Instant)> = HashMap::new();
        let mut attempt = 0;
        loop {
            attempt += 1;
            let list = self.list(c).await?;
            let mut differing = self.differing(&list);
            self.count(&list, &differing);
            if !differing.is_empty() {
                self.listen(c, (PAUSE * attempt).min(PAUSE_MAX)).await?;
                if c.resync {
                    self.sync(c).await?;
                }
                self.settle(c).await?;
                differing = self.differing(&list);
            }
            let now = Instant::now();
            standing.retain(|conv, (sides, _)| differing.get(conv) == Some(sides));
            for (conv, sides) in differing {
                // A group that nobody has told the device it is out of: it asks.
                if sides.0.is_none() && conv.starts_with("grp-") {
                    c.doubtful.insert(conv.clone());
                }
                standing.entry(conv).or_insert((sides, now));
            }
            self.settle(c).await?;
            if standing.is_empty() || *ending.borrow() {
                return Ok(());
            }
            let stood = standing.values().filter(|(_, since)| *since + STANDS <= now).count();
            let moving = standing.values().all(|(_, since)| *since == now);
            if stood == standing.len() || attempt >= ATTEMPTS_MAX && moving {
                for (conv, (sides, since)) in &standing {
                    match *since + STANDS <= now {
                        true => self.differs(conv, sides),
                        false => self.world.tally.unsettled.add(),
                    }
                }
                return Ok(());
            }
        }
    }

    /// Compares once: nothing changes any more, so everything must be equal.
    pub(super) async fn compare_strictly(&mut self, c: &mut Connection) -> Result<(), ClientError> {
        let mut list = self.list(c).await?;
        let unlisted = |(conv, sides): (String, Sides)| sides.0.is_none().then_some(conv);
        c.doubtful.extend(self.differing(&list).into_iter().filter_map(unlisted));
        if !c.doubtful.is_empty() {
            self.settle(c).await?;
            list = self.list(c).await?;
        }
        let differing = self.differing(&list);
        self.count(&list, &differing);
        for (conv, sides) in differing {
            self.differs(&conv, &sides);
        }
        Ok(())
    }

    /// Counts those that were equal.
    fn count(&self, list: &[Conversation], differing: &HashMap<String, Sides>) {
        let tally = &self.world.tally;
        for it in list.iter().filter(|it| !differing.contains_key(&it.conv_id)) {
            tally.compared.add();
            if it.unread > 0 {
                tally.unread.add();
            }
        }
    }

    fn differs(&self, conv: &str, (theirs, ours): &Sides) {
        let what = format!("{conv}: the server has {theirs:?}, the device counts {ours:?}");
        let counted = theirs.as_ref().zip(ours.as_ref()).is_some_and(|(one, other)| one.stands_with(other));
        self.fault(if counted { Kind::Count } else { Kind::Loss }, what);
    }

    fn differing(&self, list: &[Conversation]) -> HashMap<String, Sides> {
        let ours = |conv: &str| {
            let kept = self.replica.kept.get(conv)?;
            Some(kept.numbers(self.uid, conv.starts_with("p2p-")))
        };
        let mut differing = HashMap::new();
        for theirs in list {
            let sides = (Some(Numbers::from(theirs)), ours(&theirs.conv_id));
            if sides.0 != sides.1 {
                differing.insert(theirs.conv_id.clone(), sides);
            }
        }
        let listed = |conv: &String| list.iter().any(|it| it.conv_id == *conv);
        for conv in self.replica.kept.keys().filter(|conv| !listed(conv)) {
            differing.insert(conv.clone(), (None, ours(conv)));
        }
        differing
    }

    /// The whole list, page by page.
    async fn list(&mut self, c: &mut Connection) -> Result<Vec<Conversation>, ClientError> {
        let (mut all, mut cursor) = (Vec::new(), None);
        loop {
            self.asked = self.world.ledger.tick();
            let after = cursor.as_ref().map(|cursor| format!("&cursor={cursor}")).unwrap_or_default();
            let path = format!("/v1/conversations?limit={PAGE}{after}");
            match c.rest.ask::<List>(Method::GET, &path, None).await? {
                Ok(page) => {
                    for it in &page.conversations {
                        self.world.ledger.heard_of(&it.conv_id, self.uid, self.asked, "its numbers");
                        self.look_at(it);
                    }
                    all.extend(page.conversations);
                    cursor = page.cursor;
                    if cursor.is_none() {
                        return Ok(all);
                    }
                }
                Err(problem) => self.not_now("the list", &problem).await?,
            }
        }
    }
}
