//! The conversation's id: the one place that makes it and parses it.
//!
//! `p2p-<lo>-<hi>` for a single chat, `grp-<slug>` for a group. Input in capitals or with the uids swapped is
//! made canonical here, so that one conversation never has two ids.

use std::{fmt, sync::Arc};

use crate::ids::{Uid, decimal};

/// Why a text is not a conversation's id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConvIdError {
    /// Neither of the two forms.
    #[error("a conv_id is p2p-<uid>-<uid> or grp-<slug>")]
    Form,
    /// One of the two uids is out of range or oddly spelt.
    #[error("the uids of a p2p conv_id are integers from 1 to 9007199254740991 without leading zeros")]
    Uid,
    /// The slug is empty, too long or has other characters.
    #[error("a group's slug is 1 to 64 of a-z, 0-9, _ and -")]
    Slug,
}

/// A single chat or a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConvKind {
    /// Two people, or one person's own notes (`lo == hi`). Membership follows from the id.
    Single {
        /// The lower uid.
        lo: Uid,
        /// The higher uid.
        hi: Uid,
    },
    /// A group, whose members are in its group stream.
    Group,
}

/// A group's name in its id: 1 to 64 of `[a-z0-9_-]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupSlug(String);

impl GroupSlug {
    /// The longest slug, in bytes.
    pub const LEN_MAX: usize = 64;

    /// Checks length and alphabet; capitals are lowered.
    pub fn parse(text: &str) -> Result<Self, ConvIdError> {
        let slug = text.to_ascii_lowercase();
        let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'-';
        if (1..=Self::LEN_MAX).contains(&slug.len()) && slug.bytes().all(allowed) {
            Ok(Self(slug))
        } else {
            Err(ConvIdError::Slug)
        }
    }

    /// For imports: lower case, every other character than `[a-z0-9_-]` becomes `-`.
    pub fn from_foreign_name(name: &str) -> Result<Self, ConvIdError> {
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '-' };
        Self::parse(&name.to_lowercase().chars().map(plain).collect::<String>())
    }
}

/// A conversation's id in canonical form. Cheap to clone.
#[derive(Clone)]
pub struct ConvId {
    text: Arc<str>,
    kind: ConvKind,
}

impl ConvId {
    const SINGLE: &'static str = "p2p-";
    const GROUP: &'static str = "grp-";

    /// The single chat of two people, in whichever order they are named.
    pub fn single(a: Uid, b: Uid) -> Self {
        let (lo, hi) = if a <= b { (a, b) } else { (b, a) };
        Self { text: format!("{}{lo}-{hi}", Self::SINGLE).into(), kind: ConvKind::Single { lo, hi } }
    }

    /// A group by its slug.
    pub fn group(slug: &GroupSlug) -> Self {
        Self { text: format!("{}{}", Self::GROUP, slug.0).into(), kind: ConvKind::Group }
    }

    /// Parses either form and makes it canonical.
    pub fn parse(text: &str) -> Result<Self, ConvIdError> {
        // Longer than any conversation's id: refused before anything is copied.
        if text.len() > Self::GROUP.len() + GroupSlug::LEN_MAX {
            return Err(ConvIdError::Form);
        }
        let text = text.to_ascii_lowercase();
        if let Some(pair) = text.strip_prefix(Self::SINGLE) {
            let (a, b) = pair.split_once('-').ok_or(ConvIdError::Form)?;
            let uid = |part: &str| decimal(part).and_then(|n| Uid::new(n).ok()).ok_or(ConvIdError::Uid);
            Ok(Self::single(uid(a)?, uid(b)?))
        } else if let Some(slug) = text.strip_prefix(Self::GROUP) {
            Ok(Self::group(&GroupSlug::parse(slug)?))
        } else {
            Err(ConvIdError::Form)
        }
    }

    /// The canonical text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Single or group.
    pub fn kind(&self) -> ConvKind {
        self.kind
    }

    /// Is this a group?
    pub fn is_group(&self) -> bool {
        matches!(self.kind, ConvKind::Group)
    }

    /// Is this person one of a single chat's two? Never true of a group.
    pub fn has_party(&self, uid: Uid) -> bool {
        matches!(self.kind, ConvKind::Single { lo, hi } if uid == lo || uid == hi)
    }

    /// The other one of a single chat (oneself in one's own notes).
    pub fn peer_of(&self, uid: Uid) -> Option<Uid> {
        match self.kind {
            ConvKind::Single { lo, hi } if uid == lo => Some(hi),
            ConvKind::Single { lo, hi } if uid == hi => Some(lo),
            ConvKind::Single { .. } | ConvKind::Group => None,
        }
    }
}

impl fmt::Debug for ConvId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Display for ConvId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl PartialEq for ConvId {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for ConvId {}

impl PartialOrd for ConvId {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ConvId {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.text.cmp(&other.text)
    }
}

impl std::hash::Hash for ConvId {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> String {
        ConvId::parse(text).map_or_else(|e| format!("{e:?}"), |id| id.to_string())
    }

    #[test]
    fn one_conversation_has_one_id() {
        assert_eq!(parsed("p2p-1001-1002"), "p2p-1001-1002");
        assert_eq!(parsed("P2P-1002-1001"), "p2p-1001-1002");
        assert_eq!(parsed("p2p-10-9"), "p2p-9-10");
        assert_eq!(parsed("p2p-7-7"), "p2p-7-7");
        assert_eq!(parsed("GRP-Team_A-1"), "grp-team_a-1");
    }

    #[test]
    fn what_is_malformed_says_what_is_wrong() {
        for form in ["", "p2p", "p2p-1", "group-1", "p2p_1_2", &"x".repeat(1000)] {
            assert_eq!(parsed(form), "Form", "{form:?}");
        }
        for uid in ["p2p-0-1", "p2p-1-9007199254740992", "p2p-01-2", "p2p--1-2", "p2p-1-2-3", "p2p-a-b"] {
            assert_eq!(parsed(uid), "Uid", "{uid:?}");
        }
        for slug in ["grp-", "grp-a b", "grp-ä", "grp-a/b", "grp-a\0"] {
            assert_eq!(parsed(slug), "Slug", "{slug:?}");
        }
        assert_eq!(parsed(&format!("grp-{}", "a".repeat(64))), format!("grp-{}", "a".repeat(64)));
        assert_eq!(parsed(&format!("grp-{}", "a".repeat(65))), "Form");
    }

    #[test]
    fn a_foreign_name_becomes_a_slug() {
        let slug = |name| GroupSlug::from_foreign_name(name).map(|s| s.0);
        assert_eq!(slug("IRC #Ubuntu.2018"), Ok("irc--ubuntu-2018".into()));
        assert_eq!(slug("群"), Ok("-".into()));
        assert_eq!(slug(""), Err(ConvIdError::Slug));
    }

    #[test]
    fn a_single_chat_knows_its_two() {
        let [ana, bo, cy] = [1, 2, 3].map(|n| Uid::new(n).unwrap());
        let chat = ConvId::single(bo, ana);
        assert!(chat.has_party(ana) && chat.has_party(bo) && !chat.has_party(cy));
        assert_eq!((chat.peer_of(ana), chat.peer_of(bo), chat.peer_of(cy)), (Some(bo), Some(ana), None));
    }
}
