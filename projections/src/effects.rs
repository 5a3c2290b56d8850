//! What a batch of events comes to: a pure fold into net effects, table by table. No I/O, no clock.
//!
//! The one match over events has no `_` arm, so a new event stops the build until somebody says what it shows.

use std::collections::HashSet;

use domain::{ConvId, Event, Fact, Ms, Role, Sender, Seq, StreamKind};
use event_store::{Header, Position, Recorded, Shard, codec::DecodeError};
use uuid::Uuid;

use crate::{
    departure, group_read, head,
    history::{self, message},
    marks, member, mention,
    removal::Removal,
    setting, watermark,
};

/// What is to be written.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Effects {
    pub history: history::Effects,
    pub marks: marks::Effects,
    pub reads: group_read::Effects,
    pub watermarks: watermark::Effects,
    pub settings: setting::Effects,
    pub heads: head::Effects,
    pub members: member::Effects,
    pub mentions: mention::Effects,
    pub departures: departure::Effects,
    /// What is gone, to be taken out before the rest is written. Its event is a batch of its own, see `follow.rs`.
    pub removals: Vec<Removal>,
}

/// A conversation with an event that could not be applied.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Parked {
    pub conv: ConvId,
    pub shard: Shard,
    pub position: Position,
    pub event_id: Uuid,
    pub reason: String,
}

impl Parked {
    pub(crate) fn at(conv: &ConvId, header: &Header, reason: String) -> Self {
        let Header { shard, position, .. } = *header;
        Self { conv: conv.clone(), shard, position, event_id: header.event_id.get(), reason }
    }
}

/// What a batch comes to.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Folded {
    pub effects: Effects,
    /// Conversations that stop with this batch.
    pub parked: Vec<Parked>,
}

/// Folds events of one shard, in order. Those of parked conversations are skipped, and so are all of a
/// conversation after one that says nothing to this binary.
pub(crate) fn fold(events: &[Recorded], parked: &HashSet<ConvId>) -> Folded {
    let mut folded = Folded::default();
    for recorded in events {
        // What is of no conversation is in a shard of its own, which nobody follows here.
        let Some(conv) = recorded.header.stream.conv() else { continue };
        if parked.contains(conv) || folded.parked.iter().any(|stopped| stopped.conv == *conv) {
            continue;
        }
        match recorded.event() {
            Ok(event) => folded.effects.apply(conv, &recorded.header, event),
            Err(DecodeError::Erased) if recorded.header.stream.kind() == Some(StreamKind::Message) => {
                folded.effects.erased(conv, &recorded.header);
            }
            Err(error) => folded.parked.push(Parked::at(conv, &recorded.header, chain_of(&error))),
        }
    }
    folded
}

/// An error and its sources, in one line.
pub(crate) fn chain_of(error: &dyn std::error::Error) -> String {
    let sources = std::iter::successors(error.source(), |error| error.source());
    sources.fold(error.to_string(), |text, source| format!("{text}: {source}"))
}

impl Effects {
    fn apply(&mut self, conv: &ConvId, header: &Header, event: Event) {
        let now = header.recorded_at;
        match event {
            Event::MessageSent {
                msg_id,
                sender,
                content,
                flags,
                mentions,
                reply_to,
                client_msg_id,
                create_at,
            } => {
                let seq = Seq::new(header.version);
                let fact = Fact {
                    seq,
                    msg_id,
                    sender,
                    content,
                    flags,
                    mentions,
                    reply_to,
                    client_msg_id,
                    create_at,
                };
                self.history.append(conv, seq, message::encode(&fact));
                self.mentions.note(conv, &fact);
                self.came(conv, header, seq, sender, create_at);
            }
            Event::MessageRecalled { seq, by, at } => self.marks.recall(conv, seq, by, at),
            Event::MessagesDeletedFor { uid, seqs } => self.marks.delete(conv, uid, &seqs, true),
            Event::MessagesRestoredFor { uid, seqs } => self.marks.delete(conv, uid, &seqs, false),
            Event::ReadAdvanced { uid, read_seq, at } => {
                self.reads.raise(conv, uid, read_seq, at, header.position)
            }
            Event::HistoryCleared { uid, up_to_seq } => self.watermarks.clear(conv, uid, up_to_seq),
            Event::ConversationHidden { uid, up_to_seq } => self.watermarks.hide(conv, uid, up_to_seq),
            Event::SettingsChanged { uid, settings } => self.settings.set(conv, uid, settings),
            Event::HistoryExpired { up_to_seq } => {
                self.heads.expire(conv, up_to_seq);
                self.removals.push(Removal::Expired { conv: conv.clone(), up_to: up_to_seq });
            }
            Event::BodiesErased { uid: _, seqs } => {
                self.removals.push(Removal::Erased { conv: conv.clone(), seqs });
            }
            Event::HoldPlaced { .. } | Event::HoldLifted { .. } => {}
            Event::GroupCreated { name, owner, history, announced, source: _ } => {
                self.heads.found(conv, &name, history, now);
                self.members.join(conv, owner, Role::Owner, Seq::ZERO, now);
                if announced {
                    self.reads.raise(conv, owner, Seq::ZERO.next(), 0, header.position);
                }
            }
            Event::MembersJoined { uids, joined_seq, by: _, announced, source: _ } => {
                // They start with everything read, the message about themselves too, and have read nothing themselves.
                let read_seq = if announced { joined_seq.next() } else { joined_seq };
                for uid in uids {
                    self.members.join(conv, uid, Role::Member, joined_seq, now);
                    self.reads.raise(conv, uid, read_seq, 0, header.position);
                }
            }
            Event::MemberLeft { uid, by: _, announced: _, source: _ } => {
                self.members.leave(conv, uid);
                self.departures.note(conv, uid, header.position);
            }
            Event::RoleChanged { uid, role, by: _ } => self.members.set_role(conv, uid, role),
            Event::GroupChanged { change, by: _ } => self.heads.change_group(conv, change),
            Event::GroupDissolved { by: _ } => self.heads.dissolve(conv),
        }
    }

    /// A message whose body is gone: its number stays taken.
    fn erased(&mut self, conv: &ConvId, header: &Header) {
        let seq = Seq::new(header.version);
        let sender = Sender::new(header.actor).unwrap_or(Sender::System);
        self.history.append(conv, seq, Vec::new());
        self.came(conv, header, seq, sender, header.create_at.unwrap_or(header.recorded_at));
    }

    /// What every message does beside its body.
    fn came(&mut self, conv: &ConvId, header: &Header, seq: Seq, sender: Sender, create_at: Ms) {
        let now = header.recorded_at;
        self.heads.grow(conv, seq, now);
        match sender {
            Sender::System => self.history.system(conv, seq),
            Sender::Person(uid) => self.reads.raise(conv, uid, seq, create_at, header.position),
        }
        if seq == Seq::ZERO.next() {
            self.members.first_message(conv, now);
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use bytes::Bytes;
    use domain::{EventId, Uid};
    use event_store::{Body, Origin, StreamName, codec};

    use super::*;

    fn recorded(conv: &str, version: u64, event: &Event) -> Recorded {
        let encoded = codec::encode(event);
        let header = Header {
            shard: Shard::new(0),
            position: Position::new(version),
            stream: StreamName::new(&ConvId::parse(conv).unwrap(), event.stream()),
            version,
            event_id: EventId::new(Uuid::nil()),
            event_type: encoded.event_type,
            schema_version: encoded.schema_version,
            recorded_at: 1,
            actor: 0,
            device: None,
            origin: Origin::Live,
            correlation_id: Uuid::nil(),
            msg_id: None,
            msg_type: None,
            flags: None,
            create_at: None,
            client_msg_id: None,
            chain: [0; 32],
        };
        Recorded { header, body: Body::Present { salt: [0; 16], bytes: Bytes::from(encoded.body) } }
    }

    pub(crate) fn read(conv: &str, version: u64) -> Recorded {
        let uid = Uid::new(1).unwrap();
        recorded(conv, version, &Event::ReadAdvanced { uid, read_seq: Seq::new(version), at: 1 })
    }

    #[test]
    fn an_event_that_says_nothing_stops_its_conversation_and_no_other() {
        let mut poison = read("grp-a", 2);
        poison.header.schema_version = 99;
        let events = [read("grp-a", 1), poison, read("grp-a", 3), read("grp-b", 4)];
        let folded = fold(&events, &HashSet::new());
        let expected = fold(&[events[0].clone(), events[3].clone()], &HashSet::new());
        assert_eq!(folded.effects, expected.effects);
        assert_eq!(
            folded.parked.iter().map(|p| (p.conv.as_str(), p.position.get())).collect::<Vec<_>>(),
            [("grp-a", 2)]
        );
    }

    #[test]
    fn what_comes_after_is_skipped() {
        let parked = HashSet::from([ConvId::parse("grp-a").unwrap()]);
        assert_eq!(fold(&[read("grp-a", 1)], &parked), Folded::default());
    }

    #[test]
    fn a_reason_names_its_causes() {
        let mut broken = read("grp-a", 1);
        broken.body = Body::Present { salt: [0; 16], bytes: Bytes::from_static(b"{") };
        let folded = fold(&[broken], &HashSet::new());
        assert!(
            folded.parked[0].reason.starts_with("the body does not fit its type: EOF"),
            "{:?}",
            folded.parked
        );
    }
}
