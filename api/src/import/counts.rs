//! What has become of the lines.

use std::fmt;

/// Each line that was read and answered is in exactly one of `imported`, `memberships`, `skipped`, `refused`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Lines with something in them that were read.
    pub lines: u64,
    /// Lines that became a message.
    pub imported: u64,
    /// Lines that became a membership event.
    pub memberships: u64,
    /// Lines that were imported before, and memberships that changed nothing.
    pub skipped: u64,
    /// Lines that cannot be imported.
    pub refused: u64,
    /// People who were brought into a group for the sake of their message; these have no line of their own.
    pub joined: u64,
}

impl Counts {
    /// Lines whose outcome is not known: none after a whole run.
    pub fn unanswered(&self) -> u64 {
        self.lines - self.imported - self.memberships - self.skipped - self.refused
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { lines, imported, memberships, skipped, refused, joined } = self;
        write!(
            f,
            "{imported} imported, {skipped} skipped, {refused} refused, {memberships} joins and leaves, of {lines} \
             lines; {joined} senders joined first"
        )
    }
}
