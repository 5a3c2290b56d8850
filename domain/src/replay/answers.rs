//! What a replay has come to, as it is asked for. Nothing here changes it.

use std::collections::{BTreeMap, BTreeSet};

use super::{Forgotten, Person, Replay, Seqs, Standing};
use crate::{
    bucket::{Bits, Bucket},
    conv_id::{ConvId, ConvKind},
    conversation::Recall,
    event::History,
    group::Group,
    ids::{Ms, Seq, Uid},
    unread,
    view::{self, Labels, Viewer},
};

impl Replay {
    /// Which conversation.
    pub fn conv(&self) -> &ConvId {
        &self.conv
    }

    /// The newest message.
    pub fn max_seq(&self) -> Seq {
        self.max_seq
    }

    /// Up to where retention has taken the history.
    pub fn expired_seq(&self) -> Seq {
        self.expired_seq
    }

    /// When the last message or the founding was appended; 0 where nothing ever happened.
    pub fn updated_at(&self) -> Ms {
        self.updated_at
    }

    /// A group's own facts; its `members` are not counted, see [`Self::members`].
    pub fn group(&self) -> Option<&Group> {
        self.group.as_ref()
    }

    /// Everybody of whom something is kept, ascending.
    pub fn people(&self) -> &BTreeMap<Uid, Person> {
        &self.people
    }

    /// What is kept of one person.
    pub fn person(&self, uid: Uid) -> Person {
        self.people.get(&uid).copied().unwrap_or_default()
    }

    /// Who is in it now, ascending. A single chat's two are, even before its first message.
    pub fn members(&self) -> Vec<Uid> {
        match self.conv.kind() {
            ConvKind::Single { lo, hi } => BTreeSet::from([lo, hi]).into_iter().collect(),
            ConvKind::Group => {
                self.people.iter().filter(|(_, it)| it.membership.is_some()).map(|(uid, _)| *uid).collect()
            }
        }
    }

    /// In it now?
    pub fn is_member(&self, uid: Uid) -> bool {
        if self.conv.is_group() { self.person(uid).membership.is_some() } else { self.conv.has_party(uid) }
    }

    /// The eyes of one person.
    pub fn viewer(&self, uid: Uid) -> Viewer {
        let person = self.person(uid);
        let hides_the_past = self.group.as_ref().is_some_and(|group| group.history == History::Joined);
        let joined = person.membership.filter(|_| hides_the_past).map(|it| it.joined_seq);
        let min_seq =
            view::min_seq(person.cleared.unwrap_or_default(), joined.unwrap_or_default(), self.expired_seq);
        Viewer { member: self.is_member(uid), min_seq }
    }

    /// Where one person stands.
    pub fn standing(&self, uid: Uid) -> Standing {
        let (person, viewer, max_seq) = (self.person(uid), self.viewer(uid), self.max_seq);
        // Who came in has read the message about it before it is there.
        let read_seq = person.read.seq.min(max_seq);
        let above = unread::unread_above(read_seq, viewer.min_seq);
        let (nothing, deleted) = (Seqs::default(), self.deleted_by(uid));
        let deleted = deleted.unwrap_or(&nothing);
        let out = [&self.recalled, &self.erased, deleted];
        let uncounted = Seqs::count_above(&[&self.system, out[0], out[1], out[2]], above);
        let names = [&self.at_all, self.named.get(&uid).unwrap_or(&nothing)];
        let joined_at = person.membership.map_or(0, |it| it.joined_at);
        Standing {
            viewer,
            max_seq,
            read_seq,
            peer_read_seq: self.conv.peer_of(uid).map(|peer| self.person(peer).read.seq),
            unread: unread::unread(max_seq, read_seq, viewer.min_seq, uncounted),
            mention_seq: Seqs::first_above(&names, &out, above),
            last_seq: Seqs::last_outside(&[&self.erased, deleted], viewer.min_seq, max_seq),
            updated_at: self.updated_at.max(joined_at),
            settings: person.settings.unwrap_or_default(),
            hidden: person.hidden.is_some_and(|hidden| max_seq <= hidden),
        }
    }

    /// What has become of a message for one person.
    pub fn labels(&self, uid: Uid, seq: Seq) -> Result<Labels, Forgotten> {
        Ok(Labels {
            recalled: self.recall(seq)?,
            deleted: self.deleted_by(uid).is_some_and(|seqs| seqs.has(seq)),
            expired: self.erased.has(seq),
        })
    }

    /// By whom and when a message was recalled, if it was.
    pub fn recall(&self, seq: Seq) -> Result<Option<Recall>, Forgotten> {
        match self.recalls.get(seq) {
            None if self.recalled.has(seq) => Err(Forgotten(seq)),
            known => Ok(known),
        }
    }

    /// Is this message's body gone by an erasure?
    pub fn is_erased(&self, seq: Seq) -> bool {
        self.erased.has(seq)
    }

    /// Is this message the server's own?
    pub fn is_system(&self, seq: Seq) -> bool {
        self.system.has(seq)
    }

    /// What one person has deleted of a bucket.
    pub fn deleted_in(&self, uid: Uid, bucket: Bucket) -> Bits {
        self.deleted_by(uid).map_or(Bits::EMPTY, |seqs| seqs.bits(bucket))
    }

    /// Who has deleted something of which buckets, ascending by person.
    pub fn deleted_buckets(&self) -> impl Iterator<Item = (Uid, Bucket)> {
        self.deleted.iter().flat_map(|(uid, seqs)| seqs.buckets().map(|bucket| (*uid, bucket)))
    }

    /// Which messages name whom; none is everybody. Of those who are watched.
    pub fn named(&self) -> impl Iterator<Item = (Option<Uid>, Seq)> {
        let all = self.at_all.iter().map(|seq| (None, seq));
        all.chain(self.named.iter().flat_map(|(uid, seqs)| seqs.iter().map(|seq| (Some(*uid), seq))))
    }

    fn deleted_by(&self, uid: Uid) -> Option<&Seqs> {
        self.deleted.get(&uid)
    }
}
