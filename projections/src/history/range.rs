//! Which seqs a page covers. Pure arithmetic.

use domain::Seq;

use crate::query::{PageLimit, Range};

/// A page's seqs; `first` is above `last` where there is nothing on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub first: Seq,
    pub last: Seq,
    /// Is there more in the direction of the paging?
    pub has_more: bool,
}

/// No bound: the newest page. `before`: the newest `limit` below it. `after`: the oldest `limit` above it. Both:
/// the range between, from its low end.
pub(crate) fn span(range: Range, limit: PageLimit, min_seq: Seq, max_seq: Seq) -> Span {
    let below = |seq: Seq| Seq::new(seq.get().saturating_sub(1));
    let top = range.before_seq.map_or(max_seq, |before| below(before).min(max_seq));
    let steps = u64::from(limit.get()) - 1;
    match range.after_seq {
        Some(after) => {
            let first = after.next().max(min_seq);
            let last = Seq::new(first.get().saturating_add(steps)).min(top);
            Span { first, last, has_more: first <= last && last < top }
        }
        None => {
            let first = Seq::new(top.get().saturating_sub(steps)).max(min_seq);
            Span { first, last: top, has_more: first <= top && first > min_seq }
        }
    }
}

impl Span {
    /// Its seqs, ascending.
    pub(crate) fn seqs(self) -> impl Iterator<Item = Seq> {
        (self.first.get()..=self.last.get()).map(Seq::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// (first, last, has_more) of a page of ten; min_seq 5, max_seq 250.
    fn page(before: Option<u64>, after: Option<u64>) -> (u64, u64, bool) {
        let range = Range { before_seq: before.map(Seq::new), after_seq: after.map(Seq::new) };
        let span = span(range, PageLimit::new(10).unwrap(), Seq::new(5), Seq::new(250));
        let count = span.seqs().count();
        if count == 0 { (0, 0, span.has_more) } else { (span.first.get(), span.last.get(), span.has_more) }
    }

    #[test]
    fn the_four_ways_to_page() {
        assert_eq!(page(None, None), (241, 250, true));
        assert_eq!(page(Some(101), None), (91, 100, true));
        assert_eq!(page(None, Some(99)), (100, 109, true));
        assert_eq!(page(Some(104), Some(99)), (100, 103, false));
        assert_eq!(page(Some(150), Some(99)), (100, 109, true));
    }

    #[test]
    fn the_ends() {
        assert_eq!(page(Some(15), None), (5, 14, false));
        assert_eq!(page(Some(16), None), (6, 15, true));
        assert_eq!(page(Some(5), None), (0, 0, false));
        assert_eq!(page(Some(1), None), (0, 0, false));
        assert_eq!(page(Some(Seq::MAX), None), (241, 250, true));
        assert_eq!(page(None, Some(0)), (5, 14, true));
        assert_eq!(page(None, Some(240)), (241, 250, false));
        assert_eq!(page(None, Some(250)), (0, 0, false));
        assert_eq!(page(None, Some(Seq::MAX)), (0, 0, false));
        assert_eq!(page(Some(100), Some(99)), (0, 0, false));
        assert_eq!(page(Some(9), Some(200)), (0, 0, false));
    }

    #[test]
    fn nothing_is_there_or_all_is_cleared() {
        let span = |min, max| span(Range::default(), PageLimit::default(), Seq::new(min), Seq::new(max));
        for (min, max) in [(1, 0), (11, 10)] {
            assert_eq!((span(min, max).seqs().count(), span(min, max).has_more), (0, false));
        }
    }
}
