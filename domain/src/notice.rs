//! What the system itself says in a group: a message of msg_type 10 whose content is an object with `event`, `by`
//! and what the event needs.

use serde_json::json;

use crate::{content::Content, ids::Uid};

/// People named in one message; `count` says how many there are. Keeps it below 2 KiB.
pub const UIDS_MAX: usize = 100;

/// Something that a group's members are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notice<'a> {
    /// The group exists.
    Founded {
        /// What it is called.
        name: &'a str,
        /// Who else is in it.
        uids: &'a [Uid],
    },
    /// People came in.
    Joined {
        /// Who.
        uids: &'a [Uid],
    },
    /// Somebody left.
    Left,
    /// Somebody was removed.
    Removed {
        /// Who.
        uid: Uid,
    },
    /// The group has another name.
    Renamed {
        /// Which.
        name: &'a str,
    },
    /// The group is over.
    Dissolved,
}

impl Notice<'_> {
    /// The content of the message about what `by` has done.
    pub fn content(&self, by: Uid) -> Content {
        let first = |uids: &[Uid]| uids.iter().take(UIDS_MAX).map(|uid| uid.get()).collect::<Vec<_>>();
        let by = by.get();
        let content = match self {
            Self::Founded { name, uids } => {
                json!({"event": "founded", "by": by, "name": name, "uids": first(uids), "count": uids.len()})
            }
            Self::Joined { uids } => {
                json!({"event": "joined", "by": by, "uids": first(uids), "count": uids.len()})
            }
            Self::Left => json!({"event": "left", "by": by, "uids": [by], "count": 1}),
            Self::Removed { uid } => {
                json!({"event": "removed", "by": by, "uids": [uid.get()], "count": 1})
            }
            Self::Renamed { name } => json!({"event": "renamed", "by": by, "name": name}),
            Self::Dissolved => json!({"event": "dissolved", "by": by}),
        };
        Content::system(&content)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_people_the_first_are_named_and_all_are_counted() {
        let uids: Vec<Uid> = (1..=10_000).map(|n| Uid::new(n).unwrap()).collect();
        let content = Notice::Joined { uids: &uids }.content(uids[0]);
        let said: serde_json::Value = serde_json::from_str(content.json()).unwrap();
        assert_eq!(said["uids"].as_array().unwrap().len(), UIDS_MAX);
        assert_eq!((&said["count"], &said["event"]), (&json!(10_000), &json!("joined")));
        assert!(content.json().len() < 2048);
    }
}
