//! What the system itself says in a group, described. The domain writes it; the test holds the two together.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The content of a message of msg_type 10, by `event`. Its sender is 0; it is never unread, and only the role admin
/// recalls it.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(tag = "event", rename_all = "lowercase", deny_unknown_fields)]
pub enum SystemContent {
    /// The group exists.
    Founded {
        /// Its owner.
        by: u64,
        /// What it is called.
        name: String,
        /// Who else is in it: the first 100.
        uids: Vec<u64>,
        /// How many those are in all.
        count: u64,
    },
    /// People were brought in.
    Joined {
        /// Who did it.
        by: u64,
        /// Whom: the first 100.
        uids: Vec<u64>,
        /// How many those are in all.
        count: u64,
    },
    /// Somebody left.
    Left {
        /// Who.
        by: u64,
        /// The same one.
        uids: Vec<u64>,
        /// 1.
        count: u64,
    },
    /// Somebody was removed.
    Removed {
        /// Who did it.
        by: u64,
        /// Who was it.
        uids: Vec<u64>,
        /// 1.
        count: u64,
    },
    /// The group has another name.
    Renamed {
        /// Who did it.
        by: u64,
        /// What it is called now.
        name: String,
    },
    /// The group is over.
    Dissolved {
        /// Who did it.
        by: u64,
    },
}

#[cfg(test)]
mod tests {
    use domain::{Notice, Uid};
    use serde_json::Value;

    use super::*;

    #[test]
    fn what_the_domain_writes_is_what_is_described() {
        let (ana, bo) = (Uid::new(1).unwrap(), Uid::new(2).unwrap());
        for notice in [
            Notice::Founded { name: "Team", uids: &[bo] },
            Notice::Joined { uids: &[bo] },
            Notice::Left,
            Notice::Removed { uid: bo },
            Notice::Renamed { name: "群" },
            Notice::Dissolved,
        ] {
            let written: Value = serde_json::from_str(notice.content(ana).json()).unwrap();
            let described: SystemContent = serde_json::from_value(written.clone()).unwrap();
            assert_eq!(serde_json::to_value(&described).unwrap(), written);
        }
    }
}
