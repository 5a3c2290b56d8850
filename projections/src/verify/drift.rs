//! Where a read model is not what the log says.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use domain::{ConvId, Uid};

/// Drifts of one conversation that are told in full; the others are counted.
pub const DRIFTS_TOLD: usize = 100;

/// One difference. Names numbers and fields, never what was said: it goes into logs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Drift {
    /// In which conversation.
    pub conv: ConvId,
    /// Whose, if it is one person's; 0 stands for everybody.
    pub viewer: Option<u64>,
    /// Which table or which answer.
    pub view: &'static str,
    /// A seq, a field.
    pub what: String,
    /// By the log.
    pub expected: String,
    /// In the read model.
    pub found: String,
}

impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { conv, viewer, view, what, expected, found } = self;
        write!(f, "{conv}")?;
        if let Some(viewer) = viewer {
            write!(f, " of {viewer}")?;
        }
        write!(f, ": {view}, {what}: expected {expected}, found {found}")
    }
}

/// What stands for something that is not there.
const NOTHING: &str = "nothing";

/// The drifts of one conversation: the first ones in full, all of them counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drifts {
    conv: ConvId,
    /// At most [`DRIFTS_TOLD`].
    pub told: Vec<Drift>,
    /// All.
    pub count: u64,
}

impl Drifts {
    pub(super) fn of(conv: &ConvId) -> Self {
        Self { conv: conv.clone(), told: vec![], count: 0 }
    }

    pub(super) fn note(
        &mut self,
        viewer: Option<u64>,
        view: &'static str,
        what: impl fmt::Display,
        expected: impl fmt::Display,
        found: impl fmt::Display,
    ) {
        self.count += 1;
        if self.told.len() < DRIFTS_TOLD {
            let (conv, what) = (self.conv.clone(), what.to_string());
            let (expected, found) = (expected.to_string(), found.to_string());
            self.told.push(Drift { conv, viewer, view, what, expected, found });
        }
    }

    /// Notes two values where they differ.
    pub(super) fn compare<T: PartialEq + fmt::Debug>(
        &mut self,
        viewer: Uid,
        view: &'static str,
        what: impl fmt::Display,
        expected: &T,
        found: &T,
    ) {
        if expected != found {
            self.note(Some(viewer.get()), view, what, format!("{expected:?}"), format!("{found:?}"));
        }
    }

    /// Notes every entry in which two maps differ.
    pub(super) fn compare_fields(&mut self, expected: &Fields, found: &Fields) {
        let keys: BTreeSet<_> = expected.keys().chain(found.keys()).collect();
        for key in keys {
            let (stands, is) = (expected.get(key), found.get(key));
            if stands != is {
                let text = |value: Option<&String>| value.map_or(NOTHING.to_owned(), Clone::clone);
                let Field { table, uid, name } = key;
                self.note(*uid, table, name, text(stands), text(is));
            }
        }
    }
}

/// One value of a read model.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Field {
    pub table: &'static str,
    pub uid: Option<u64>,
    pub name: String,
}

/// Values as text, so that what is kept and what should be are put side by side.
pub(super) type Fields = BTreeMap<Field, String>;

/// The tables' names, as `&'static str`: rows bring them as text.
pub(super) fn table(name: &str) -> &'static str {
    const TABLES: [&str; 8] = [
        "member_by_conv",
        "member_by_person",
        "group_read",
        "watermark",
        "setting",
        "departure",
        "recall",
        "system_message",
    ];
    TABLES.into_iter().find(|table| *table == name).unwrap_or("history")
}
