//! Decides what may happen in a conversation. No clock, no I/O, no async.
//!
//! One command, one file. A repeat is recognised before rights, windows and limits.

mod change;
mod clear;
mod delete;
mod dissolve;
mod erase;
mod expire;
mod group;
mod hide;
mod hold;
mod import;
mod read;
mod recall;
mod role;
mod send;
mod settle;
#[cfg(test)]
pub(crate) mod testing;

use crate::{
    command::{Command, Reply, Stamp},
    content::Flags,
    conv_id::ConvId,
    conversation::{Conversation, Key, Need},
    event::{Event, Role, StreamKind},
    event_id::{EventId, unnamed_client_msg_id},
    group::Group,
    ids::{Sender, Uid},
    notice::Notice,
    rejection::Rejection,
};

/// What a command comes to: facts, and the answer once they are durable. They are appended together, though a
/// change of a group and the system's message about it belong to two streams. No facts means that nothing happened
/// that had not happened before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// The facts with their ids, in order.
    pub events: Vec<(EventId, Event)>,
    /// The answer.
    pub reply: Reply,
}

impl Decision {
    fn nothing(reply: Reply) -> Self {
        Self { events: vec![], reply }
    }

    fn one(id: EventId, event: Event, reply: Reply) -> Self {
        Self { events: vec![(id, event)], reply }
    }

    /// Facts of one stream that can happen again, named by their place.
    fn placed(state: &Conversation, events: Vec<Event>, reply: Reply) -> Self {
        let named = |(index, event): (usize, Event)| {
            let stream = event.stream();
            (EventId::placed(&state.id, stream, state.version(stream), index), event)
        };
        Self { events: events.into_iter().enumerate().map(named).collect(), reply }
    }

    /// The same, with the message in which the system tells of them. It comes last, so that those who come in see
    /// it and those who go do not.
    fn told(mut self, state: &Conversation, by: Uid, notice: Notice<'_>, stamp: Stamp) -> Self {
        let id = EventId::system(&state.id, state.version(StreamKind::Group) + 1);
        let message = Event::MessageSent {
            msg_id: stamp.msg_id,
            sender: Sender::System,
            content: notice.content(by),
            flags: Flags::NONE,
            mentions: vec![],
            reply_to: None,
            client_msg_id: unnamed_client_msg_id(id),
            create_at: stamp.at,
        };
        self.events.push((id, message));
        self
    }
}

/// Gives facts or a reason. Everything that [`needs`] names must be known to `state`.
pub fn decide(state: &Conversation, command: &Command) -> Result<Decision, Rejection> {
    match command {
        Command::Send(send) => send::decide(state, send),
        Command::Recall { seq, by, at, window } => recall::decide(state, *seq, *by, *at, *window),
        Command::Delete { uid, seqs } => delete::delete(state, *uid, seqs),
        Command::Restore { uid, seqs } => delete::restore(state, *uid, seqs),
        Command::Read { uid, read_seq, at } => read::decide(state, *uid, *read_seq, *at),
        Command::Clear { uid, up_to_seq, key } => clear::decide(state, *uid, *up_to_seq, *key),
        Command::Hide { uid, up_to_seq, key } => hide::decide(state, *uid, *up_to_seq, *key),
        Command::Settle { uid, pinned, muted } => settle::decide(state, *uid, *pinned, *muted),
        Command::Expire { up_to_seq } => expire::decide(state, *up_to_seq),
        Command::Erase { uid, seqs, by: _ } => erase::decide(state, *uid, seqs),
        Command::Hold { by, reason, at } => hold::place(state, *by, reason, *at),
        Command::Lift { by, reason, at } => hold::lift(state, *by, reason, *at),
        Command::CreateGroup { owner, name, members, history, limit, stamp } => {
            group::create(state, *owner, name, members, *history, *limit, *stamp)
        }
        Command::AddMembers { by, uids, limit, stamp } => group::add(state, *by, uids, *limit, *stamp),
        Command::RemoveMember { by, uid, stamp } => group::remove(state, *by, *uid, *stamp),
        Command::SetRole { by, uid, role } => role::decide(state, *by, *uid, *role),
        Command::ChangeGroup { by, change, stamp } => change::decide(state, *by, change, *stamp),
        Command::DissolveGroup { by, stamp } => dissolve::decide(state, *by, *stamp),
        Command::Import(line) => import::decide(state, line),
    }
}

/// What must be known before this command can be decided.
pub fn needs(conv: &ConvId, command: &Command) -> Vec<Need> {
    match command {
        Command::Send(send) => send::needs(conv, send),
        Command::Recall { seq, by, .. } => recall::needs(conv, *seq, by.uid),
        Command::Delete { uid, seqs } | Command::Restore { uid, seqs } => delete::needs(conv, *uid, seqs),
        Command::Read { uid, .. } | Command::Settle { uid, .. } => standing(conv, *uid),
        Command::Clear { uid, key, .. } | Command::Hide { uid, key, .. } => clear::needs(conv, *uid, *key),
        Command::Expire { .. } | Command::Hold { .. } | Command::Lift { .. } => {
            vec![Need::Piece(Key::Keeping)]
        }
        Command::Erase { seqs, .. } => erase::needs(seqs),
        Command::CreateGroup { owner, members, .. } => group::needs(members.iter().chain([owner])),
        Command::AddMembers { by, uids, .. } => group::needs(uids.iter().chain([by])),
        Command::RemoveMember { by, uid, .. } | Command::SetRole { by, uid, .. } => group::needs([by, uid]),
        Command::ChangeGroup { by, .. } | Command::DissolveGroup { by, .. } => group::needs([by]),
        Command::Import(line) => import::needs(conv, line),
    }
}

/// What is needed to know whether somebody is a member. Nothing for a single chat: the id says it.
fn membership(conv: &ConvId, uid: Uid) -> Vec<Need> {
    let group = [Need::Piece(Key::Group), Need::Piece(Key::Member(uid))];
    if conv.is_group() { group.into() } else { vec![] }
}

/// Membership, positions and what retention has taken: what is needed to know which messages somebody may see.
fn standing(conv: &ConvId, uid: Uid) -> Vec<Need> {
    let mut needs = membership(conv, uid);
    needs.extend([Need::Piece(Key::Person(uid)), Need::Piece(Key::Keeping)]);
    needs
}

/// The group that goes on and the caller's role in it: what every change of a group rests on.
fn active(state: &Conversation, by: Uid) -> Result<(&Group, Role), Rejection> {
    match (state.group(), state.role(by)) {
        (Some(group), Some(_)) if group.dissolved => Err(Rejection::GroupDissolved),
        (Some(group), Some(role)) => Ok((group, role)),
        (_, None) | (None, _) => Err(Rejection::NotAMember),
    }
}
