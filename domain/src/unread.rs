//! How many messages a member has not read: counted from facts, never kept as a number.

use crate::ids::Seq;

/// `|(x, max_seq]|` less the messages there that do not count, with x = max(read_seq, min_seq − 1).
/// `uncounted` is how many in that range are recalled, expired, deleted by the viewer, of the system or the
/// viewer's own, each counted once.
pub fn unread(max_seq: Seq, read_seq: Seq, min_seq: Seq, uncounted: u64) -> u64 {
    (max_seq.get().saturating_sub(unread_above(read_seq, min_seq).get())).saturating_sub(uncounted)
}

/// The x of [`unread`]: messages above it are candidates.
pub fn unread_above(read_seq: Seq, min_seq: Seq) -> Seq {
    read_seq.max(Seq::new(min_seq.get().saturating_sub(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_and_clearing_both_move_the_start() {
        let unread = |max, read, min, not| unread(Seq::new(max), Seq::new(read), Seq::new(min), not);
        assert_eq!(unread(0, 0, 1, 0), 0);
        assert_eq!(unread(10, 4, 1, 0), 6);
        assert_eq!(unread(10, 4, 8, 1), 2);
        assert_eq!(unread(10, 10, 11, 0), 0, "min_seq may be max_seq + 1");
    }
}
