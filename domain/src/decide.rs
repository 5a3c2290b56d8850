//! Decides what may happen in a conversation. No clock, no I/O, no async.
//!
//! One command, one file. A repeat is recognised before rights, windows and limits.

mod clear;
mod delete;
mod group;
mod import;
mod read;
mod recall;
mod send;
#[cfg(test)]
pub(crate) mod testing;

use crate::{
    command::{Command, Reply},
    conv_id::ConvId,
    conversation::{Conversation, Key, Need},
    event::Event,
    event_id::EventId,
    ids::Uid,
    rejection::Rejection,
};

/// What a command comes to: facts, all of one stream, and the answer once they are durable. No facts means that
/// nothing happened that had not happened before.
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
        Command::CreateGroup { owner, name, members, history, limit } => {
            group::create(state, *owner, name, members, *history, *limit)
        }
        Command::AddMembers { by, uids, limit } => group::add(state, *by, uids, *limit),
        Command::RemoveMember { by, uid } => group::remove(state, *by, *uid),
        Command::Import(line) => import::decide(state, line),
    }
}

/// What must be known before this command can be decided.
pub fn needs(conv: &ConvId, command: &Command) -> Vec<Need> {
    match command {
        Command::Send(send) => send::needs(conv, send),
        Command::Recall { seq, by, .. } => recall::needs(conv, *seq, by.uid),
        Command::Delete { uid, seqs } | Command::Restore { uid, seqs } => delete::needs(conv, *uid, seqs),
        Command::Read { uid, .. } => standing(conv, *uid),
        Command::Clear { uid, key, .. } => clear::needs(conv, *uid, *key),
        Command::CreateGroup { owner, members, .. } => group::needs(members.iter().chain([owner])),
        Command::AddMembers { by, uids, .. } => group::needs(uids.iter().chain([by])),
        Command::RemoveMember { by, uid } => group::needs([by, uid]),
        Command::Import(line) => import::needs(conv, line),
    }
}

/// What is needed to know whether somebody is a member. Nothing for a single chat: the id says it.
fn membership(conv: &ConvId, uid: Uid) -> Vec<Need> {
    let group = [Need::Piece(Key::Group), Need::Piece(Key::Member(uid))];
    if conv.is_group() { group.into() } else { vec![] }
}

/// Membership and positions: what is needed to know which messages somebody may see.
fn standing(conv: &ConvId, uid: Uid) -> Vec<Need> {
    let mut needs = membership(conv, uid);
    needs.push(Need::Piece(Key::Person(uid)));
    needs
}
