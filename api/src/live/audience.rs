//! Who is in a group, kept while the feed goes by: read once from the read models, then led on by the log's events.
//!
//! The read models may be ahead of the feed when a group is read. That does no harm: the events in between say the
//! same again, one by one, and after the last of them the members are those that were read.

use std::collections::HashMap;

use domain::{ConvId, Event, History, Seq, Uid};
use event_store::Position;
use lru::LruCache;
use projections::{ReadModels, query::QueryError};

/// Members that are remembered for one shard, of all its groups: 16 shards of these take about 50 MiB.
const MEMBERS_KEPT: usize = 65_536;

/// A group's members.
#[derive(Debug, Clone)]
pub struct Group {
    /// Each with the head when they joined.
    pub members: HashMap<Uid, Seq>,
    /// What they see.
    pub history: History,
}

impl Group {
    fn follow(&mut self, event: &Event) {
        match event {
            Event::GroupCreated { owner, history, .. } => {
                self.members.insert(*owner, Seq::ZERO);
                self.history = *history;
            }
            Event::MembersJoined { uids, joined_seq, .. } => {
                self.members.extend(uids.iter().map(|uid| (*uid, *joined_seq)));
            }
            Event::MemberLeft { uid, .. } => drop(self.members.remove(uid)),
            Event::GroupChanged { change, .. } => self.history = change.history.unwrap_or(self.history),
            Event::MessageSent { .. }
            | Event::MessageRecalled { .. }
            | Event::MessagesDeletedFor { .. }
            | Event::MessagesRestoredFor { .. }
            | Event::ReadAdvanced { .. }
            | Event::HistoryCleared { .. }
            | Event::ConversationHidden { .. }
            | Event::SettingsChanged { .. }
            | Event::HistoryExpired { .. }
            | Event::BodiesErased { .. }
            | Event::HoldPlaced { .. }
            | Event::HoldLifted { .. }
            | Event::RoleChanged { .. }
            | Event::GroupDissolved { .. } => {}
        }
    }
}

/// The groups of one shard that were last in use.
pub struct Audiences {
    groups: LruCache<ConvId, Group>,
    members: usize,
}

impl Audiences {
    /// Knows none.
    pub fn new() -> Self {
        Self { groups: LruCache::unbounded(), members: 0 }
    }

    /// Forgets all: who does not follow the log does not know.
    pub fn forget(&mut self) {
        *self = Self::new();
    }

    /// Makes sure that a group is known, as it was at `at` or later.
    pub async fn learn(
        &mut self,
        read_models: &ReadModels,
        conv: &ConvId,
        at: Position,
    ) -> Result<(), QueryError> {
        if self.groups.get(conv).is_some() {
            return Ok(());
        }
        let audience = read_models.audience(conv, at).await?;
        let group = Group { members: audience.members.into_iter().collect(), history: audience.history };
        self.put(conv.clone(), group);
        Ok(())
    }

    /// Leads a known group on.
    pub fn follow(&mut self, conv: &ConvId, event: &Event) {
        if let Some(mut group) = self.take(conv) {
            group.follow(event);
            self.put(conv.clone(), group);
        }
    }

    /// A known group.
    pub fn group(&self, conv: &ConvId) -> Option<&Group> {
        self.groups.peek(conv)
    }

    /// Forgets those that were longest out of use, down to the bound; the last one stays, whatever its size.
    pub fn trim(&mut self) {
        while self.members > MEMBERS_KEPT && self.groups.len() > 1 {
            if let Some((_, group)) = self.groups.pop_lru() {
                self.members -= group.members.len();
            }
        }
    }

    fn take(&mut self, conv: &ConvId) -> Option<Group> {
        let group = self.groups.pop(conv)?;
        self.members -= group.members.len();
        Some(group)
    }

    fn put(&mut self, conv: ConvId, group: Group) {
        self.members += group.members.len();
        self.groups.put(conv, group);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uid(n: u64) -> Uid {
        Uid::new(n).unwrap()
    }

    fn joined(n: u64, at: u64) -> Event {
        Event::MembersJoined {
            uids: vec![uid(n)],
            joined_seq: Seq::new(at),
            by: uid(1),
            announced: false,
            source: None,
        }
    }

    fn left(n: u64) -> Event {
        Event::MemberLeft { uid: uid(n), by: uid(n), announced: false, source: None }
    }

    #[test]
    fn events_that_were_read_already_do_no_harm() {
        let conv = ConvId::parse("grp-a").unwrap();
        let events = [joined(2, 0), left(2), joined(2, 5), joined(3, 6), left(3)];
        let read = Group { members: HashMap::from([(uid(2), Seq::new(5))]), history: History::Joined };
        let mut audiences = Audiences::new();
        audiences.put(conv.clone(), read.clone());
        events.iter().for_each(|event| audiences.follow(&conv, event));
        assert_eq!(audiences.group(&conv).map(|group| &group.members), Some(&read.members));
    }

    #[test]
    fn only_so_many_members_are_kept() {
        let mut audiences = Audiences::new();
        for name in ["grp-a", "grp-b", "grp-c"] {
            let members = (1..=MEMBERS_KEPT as u64 / 2).map(|n| (uid(n), Seq::ZERO)).collect();
            audiences.put(ConvId::parse(name).unwrap(), Group { members, history: History::All });
        }
        audiences.trim();
        assert!(audiences.group(&ConvId::parse("grp-a").unwrap()).is_none());
        assert!(audiences.group(&ConvId::parse("grp-c").unwrap()).is_some());
        assert_eq!(audiences.members, MEMBERS_KEPT);
    }
}
