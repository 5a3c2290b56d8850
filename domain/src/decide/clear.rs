//! Clear-history: one raised watermark, whatever the length of the history.

use uuid::Uuid;

use super::{Decision, standing};
use crate::{
    command::Reply,
    conv_id::ConvId,
    conversation::{Conversation, Earlier, Need},
    event::{Event, StreamKind},
    event_id::EventId,
    ids::{Seq, Uid},
    rejection::Rejection,
};

pub(super) fn needs(conv: &ConvId, uid: Uid, key: Option<Uuid>) -> Vec<Need> {
    let mut needs = standing(conv, uid);
    needs.extend(key.map(|key| Need::Event(StreamKind::Mark, keyed(conv, uid, key))));
    needs
}

pub(super) fn decide(
    state: &Conversation,
    uid: Uid,
    up_to_seq: Option<Seq>,
    key: Option<Uuid>,
) -> Result<Decision, Rejection> {
    let stands = state.person(uid).cleared_seq;
    let answer = |up_to: Seq| Reply::Cleared { min_seq: state.min_seq(uid).max(up_to.next()) };
    let id = key.map(|key| keyed(&state.id, uid, key));
    match id.and_then(|id| state.earlier.get(&id)) {
        Some(Some(Earlier::Cleared { up_to_seq })) => return Ok(Decision::nothing(answer(*up_to_seq))),
        Some(Some(Earlier::Sent { .. } | Earlier::Hidden { .. })) => {
            return Err(Rejection::IdempotencyConflict);
        }
        Some(None) | None => {}
    }
    if key.is_none() && up_to_seq.is_some_and(|up_to| up_to <= stands && stands > Seq::ZERO) {
        return Ok(Decision::nothing(answer(stands)));
    }
    if !state.is_member(uid) {
        return Err(Rejection::NotAMember);
    }
    let up_to = up_to_seq.unwrap_or(state.max_seq());
    if up_to > state.max_seq() {
        return Err(Rejection::ClearBeyondHead { max_seq: state.max_seq() });
    }
    // With a key it is a fact even where it raises nothing: its repeat must not clear what came since.
    if up_to <= stands && id.is_none() {
        return Ok(Decision::nothing(answer(stands)));
    }
    let up_to = up_to.max(stands);
    let id = id.unwrap_or_else(|| EventId::cleared(&state.id, uid, up_to));
    Ok(Decision::one(id, Event::HistoryCleared { uid, up_to_seq: up_to }, answer(up_to)))
}

pub(super) fn keyed(conv: &ConvId, uid: Uid, key: Uuid) -> EventId {
    EventId::keyed(conv, StreamKind::Mark, uid, key, 0)
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use crate::{command::Reply, decide::testing::*, rejection::Rejection};

    fn min(n: u64) -> Reply {
        Reply::Cleared { min_seq: seq(n) }
    }

    #[test]
    fn without_a_seq_it_is_the_head_when_handled() {
        given_chat([sent(ANA, "a"), sent(BO, "b")]).when(clear(ANA, None)).then(cleared(ANA, 2), min(3));
        given_chat([]).when(clear(ANA, None)).then_nothing(min(1));
    }

    #[test]
    fn the_watermark_only_goes_up() {
        let history = [sent(ANA, "a"), sent(BO, "b"), cleared(ANA, 2)];
        given_chat(history.clone()).when(clear(ANA, Some(1))).then_nothing(min(3));
        given_chat(history).when(clear(BO, Some(1))).then(cleared(BO, 1), min(2));
    }

    #[test]
    fn beyond_the_head_is_refused() {
        given_chat([sent(ANA, "a")])
            .when(clear(ANA, Some(2)))
            .then_rejected(Rejection::ClearBeyondHead { max_seq: seq(1) });
        given_chat([sent(ANA, "a")]).when(clear(CY, None)).then_rejected(Rejection::NotAMember);
    }

    #[test]
    fn a_repeat_with_a_key_clears_nothing_that_came_since() {
        let key = Uuid::from_u128(7);
        given_chat([sent(ANA, "a")])
            .after(clear_keyed(ANA, key))
            .and([sent(BO, "b")])
            .when(clear_keyed(ANA, key))
            .then_nothing(min(2));
        given_chat([])
            .after(clear_keyed(ANA, key))
            .and([sent(BO, "b")])
            .when(clear_keyed(ANA, key))
            .then_nothing(min(1));
    }

    #[test]
    fn a_later_joining_keeps_its_boundary() {
        given_group([created(BO), sent(BO, "a"), sent(BO, "b"), joined(ANA)])
            .when(clear(ANA, Some(1)))
            .then(cleared(ANA, 1), min(3));
    }
}
