//! How old what was said may become: by kind of conversation, and by group. Off until somebody switches it on.

use std::{collections::BTreeMap, time::Duration};

use domain::{ConvId, Ms};
use serde::Deserialize;

/// Half a year, unless somebody says otherwise.
pub const DAYS: u32 = 183;
/// The most days that may be configured: a thousand years.
pub const DAYS_MAX: u32 = 366_000;
/// Hours between two runs in the background, unless somebody says otherwise.
const EVERY_HOURS: u32 = 24;
/// The most hours that may be configured: a month.
pub const EVERY_HOURS_MAX: u32 = 744;
/// Groups that may have a time of their own.
pub const GROUPS_MAX: usize = 10_000;

/// A day, in milliseconds.
const DAY: Ms = 24 * 60 * 60 * 1000;

/// As it stands in the configuration file, in the table `retention`. 0 days are for ever.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicyFile {
    pub(crate) enabled: Option<bool>,
    pub(crate) days: Option<u32>,
    pub(crate) single_days: Option<u32>,
    pub(crate) group_days: Option<u32>,
    #[serde(default)]
    pub(crate) groups: BTreeMap<String, u32>,
    pub(crate) every_hours: Option<u32>,
}

/// What stands. 0 days are for ever.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// Does `serve` work on it in the background?
    pub enabled: bool,
    /// Of single chats.
    pub single_days: u32,
    /// Of groups.
    pub group_days: u32,
    /// Of these groups, by conv_id.
    pub groups: BTreeMap<String, u32>,
    /// Between two runs in the background.
    pub every: Duration,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            enabled: false,
            single_days: DAYS,
            group_days: DAYS,
            groups: BTreeMap::new(),
            every: hours(EVERY_HOURS),
        }
    }
}

fn hours(hours: u32) -> Duration {
    Duration::from_secs(u64::from(hours) * 60 * 60)
}

/// Why there is no policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// Out of bounds.
    #[error("{0}_days is 0 (for ever) to {DAYS_MAX}")]
    Days(String),
    /// Out of bounds.
    #[error("every_hours is 1 to {EVERY_HOURS_MAX}")]
    Hours,
    /// Not a group's id.
    #[error("groups names {0:?}, which is not a group's id (grp-<slug>)")]
    Group(String),
    /// Too many.
    #[error("groups names at most {GROUPS_MAX}")]
    Groups,
}

impl Policy {
    /// Flags and environment before the file before the defaults.
    pub fn merge(enabled: Option<bool>, days: Option<u32>, file: PolicyFile) -> Result<Self, PolicyError> {
        let of_kind = |own: Option<u32>| days.or(own).or(file.days).unwrap_or(DAYS);
        let every = file.every_hours.unwrap_or(EVERY_HOURS);
        let policy = Self {
            enabled: enabled.or(file.enabled).unwrap_or(false),
            single_days: of_kind(file.single_days),
            group_days: of_kind(file.group_days),
            groups: file.groups.iter().map(canonical).collect::<Result<_, _>>()?,
            every: hours(every),
        };
        let kinds = [("single".to_owned(), policy.single_days), ("group".to_owned(), policy.group_days)];
        let all = kinds.into_iter().chain(policy.groups.clone());
        if let Some((name, _)) = all.into_iter().find(|(_, days)| *days > DAYS_MAX) {
            return Err(PolicyError::Days(name));
        }
        match () {
            () if !(1..=EVERY_HOURS_MAX).contains(&every) => Err(PolicyError::Hours),
            () if policy.groups.len() > GROUPS_MAX => Err(PolicyError::Groups),
            () => Ok(policy),
        }
    }

    /// With these days for all conversations.
    pub fn with_days(self, days: u32) -> Self {
        Self { single_days: days, group_days: days, groups: BTreeMap::new(), ..self }
    }

    /// Before which moments single chats and groups are too old; none where nothing is.
    pub fn before(&self, now: Ms) -> [Option<Ms>; 2] {
        [self.single_days, self.group_days].map(|days| moment(now, days))
    }

    /// The same of groups that have a time of their own.
    pub fn own(&self, now: Ms) -> Vec<(String, Option<Ms>)> {
        self.groups.iter().map(|(conv, days)| (conv.clone(), moment(now, *days))).collect()
    }
}

fn canonical((name, days): (&String, &u32)) -> Result<(String, u32), PolicyError> {
    match ConvId::parse(name) {
        Ok(conv) if conv.is_group() => Ok((conv.to_string(), *days)),
        _ => Err(PolicyError::Group(name.clone())),
    }
}

fn moment(now: Ms, days: u32) -> Option<Ms> {
    (days > 0).then(|| now - Ms::from(days) * DAY)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(file: &str) -> Result<Policy, PolicyError> {
        Policy::merge(None, None, toml::from_str(file).unwrap())
    }

    #[test]
    fn it_is_off_and_half_a_year() {
        assert_eq!(merged(""), Ok(Policy::default()));
        assert!(!Policy::default().enabled);
        assert_eq!(Policy::default().before(DAY * 200), [Some(DAY * 17); 2]);
    }

    #[test]
    fn kinds_and_groups_have_times_of_their_own() {
        let policy = merged("days = 10\nsingle_days = 0\ngroups = { 'GRP-x' = 3, grp-y = 0 }").unwrap();
        let now = DAY * 100;
        assert_eq!(policy.before(now), [None, Some(DAY * 90)]);
        assert_eq!(policy.own(now), [("grp-x".into(), Some(DAY * 97)), ("grp-y".into(), None)]);
        let all = Policy::merge(Some(true), Some(7), PolicyFile::default()).unwrap();
        assert_eq!((all.enabled, all.before(now)), (true, [Some(DAY * 93); 2]));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        assert_eq!(merged("days = 366001"), Err(PolicyError::Days("single".into())));
        assert_eq!(merged("groups = { p2p-1-2 = 3 }"), Err(PolicyError::Group("p2p-1-2".into())));
        assert_eq!(merged("every_hours = 0"), Err(PolicyError::Hours));
        assert!(toml::from_str::<PolicyFile>("day = 1").is_err());
    }
}
