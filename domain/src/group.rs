//! A group's own facts and its members', as far as decisions rest on them.

use crate::{
    command::Source,
    event::{GroupChange, History, Invite, Role},
    ids::{Seq, Uid},
};

/// A group's own facts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// What it is called.
    pub name: String,
    /// Who founded it.
    pub creator: Uid,
    /// What new members see.
    pub history: History,
    /// How many are in it.
    pub members: u32,
    /// May only the owner and the admins send?
    pub mute_all: bool,
    /// Who may bring people in.
    pub invite: Invite,
    /// Is it over?
    pub dissolved: bool,
    /// Name and history mode of its founding, which a repeat of it is compared with.
    pub founded_as: (String, History),
}

impl Group {
    /// As it is right after its founding.
    pub fn founded(name: &str, creator: Uid, history: History) -> Self {
        Self {
            name: name.to_owned(),
            creator,
            history,
            members: 1,
            mute_all: false,
            invite: Invite::default(),
            dissolved: false,
            founded_as: (name.to_owned(), history),
        }
    }

    /// What is left out stays.
    pub fn take(&mut self, change: &GroupChange) {
        let GroupChange { name, history, mute_all, invite } = change.clone();
        self.name = name.unwrap_or_else(|| std::mem::take(&mut self.name));
        self.history = history.unwrap_or(self.history);
        self.mute_all = mute_all.unwrap_or(self.mute_all);
        self.invite = invite.unwrap_or(self.invite);
    }
}

/// One person's membership of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// None after leaving.
    pub role: Option<Role>,
    /// The head at the last joining.
    pub joined_seq: Seq,
    /// The line of the last imported change, by which a second import recognises what it has done.
    pub source: Option<Source>,
}
