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

/// What a group is called: 1 to 128 characters, none of them a control character.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupName(String);

/// Why a text is not a group's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a group's name has 1 to 128 characters and no control characters")]
pub struct GroupNameError;

impl GroupName {
    /// The longest name, in characters.
    pub const CHARS_MAX: usize = 128;

    /// Checks length and alphabet.
    pub fn parse(text: &str) -> Result<Self, GroupNameError> {
        let good = (1..=Self::CHARS_MAX).contains(&text.chars().count()) && !text.contains(char::is_control);
        if good { Ok(Self(text.to_owned())) } else { Err(GroupNameError) }
    }

    /// For imports: control characters go, what is too long is cut.
    pub fn from_foreign_name(name: &str) -> Self {
        let plain: String = name.chars().filter(|c| !c.is_control()).take(Self::CHARS_MAX).collect();
        Self(if plain.is_empty() { "-".into() } else { plain })
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
