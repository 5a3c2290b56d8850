//! Taking a conversation out of one's list until its next message. It is a clear, too.

use uuid::Uuid;

use super::{Decision, clear::keyed};
use crate::{
    command::Reply,
    conversation::{Conversation, Earlier},
    event::Event,
    event_id::EventId,
    ids::{Seq, Uid},
    rejection::Rejection,
};

pub(super) fn decide(
    state: &Conversation,
    uid: Uid,
    up_to_seq: Option<Seq>,
    key: Option<Uuid>,
) -> Result<Decision, Rejection> {
    let stands = state.person(uid).hidden_seq;
    let answer = |up_to: Seq| Reply::Cleared { min_seq: state.min_seq(uid).max(up_to.next()) };
    let id = key.map(|key| keyed(&state.id, uid, key));
    match id.and_then(|id| state.earlier.get(&id)) {
        Some(Some(Earlier::Hidden { up_to_seq })) => return Ok(Decision::nothing(answer(*up_to_seq))),
        Some(Some(Earlier::Sent { .. } | Earlier::Cleared { .. })) => {
            return Err(Rejection::IdempotencyConflict);
        }
        Some(None) | None => {}
    }
    if let (None, Some(up_to), Some(stands)) = (key, up_to_seq, stands)
        && up_to <= stands
    {
        return Ok(Decision::nothing(answer(stands)));
    }
    if !state.is_member(uid) {
        return Err(Rejection::NotAMember);
    }
    let up_to = up_to_seq.unwrap_or(state.max_seq());
    if up_to > state.max_seq() {
        return Err(Rejection::ClearBeyondHead { max_seq: state.max_seq() });
    }
    // With a key it is a fact even where it changes nothing: its repeat must not hide what came since.
    if id.is_none() && stands.is_some_and(|stands| up_to <= stands) {
        return Ok(Decision::nothing(answer(up_to)));
    }
    let up_to = stands.map_or(up_to, |stands| up_to.max(stands));
    let id = id.unwrap_or_else(|| EventId::hidden(&state.id, uid, up_to));
    Ok(Decision::one(id, Event::ConversationHidden { uid, up_to_seq: up_to }, answer(up_to)))
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use crate::{command::Reply, decide::testing::*, rejection::Rejection};

    fn min(n: u64) -> Reply {
        Reply::Cleared { min_seq: seq(n) }
    }

    #[test]
    fn it_clears_up_to_the_head_when_handled() {
        given_chat([sent(ANA, "a"), sent(BO, "b")]).when(hide(ANA, None)).then(hidden(ANA, 2), min(3));
        given_chat([sent(ANA, "a"), sent(BO, "b")]).when(hide(ANA, Some(1))).then(hidden(ANA, 1), min(2));
        given_chat([]).when(hide(ANA, None)).then(hidden(ANA, 0), min(1));
    }

    #[test]
    fn what_was_only_cleared_can_still_be_hidden() {
        given_chat([sent(ANA, "a"), cleared(ANA, 1)]).when(hide(ANA, None)).then(hidden(ANA, 1), min(2));
    }

    #[test]
    fn what_is_hidden_is_cleared() {
        given_chat([sent(ANA, "a"), hidden(ANA, 1)]).when(clear(ANA, Some(1))).then_nothing(min(2));
    }

    #[test]
    fn a_repeat_changes_nothing() {
        let gone = [sent(ANA, "a"), hidden(ANA, 1)];
        given_chat(gone.clone()).when(hide(ANA, None)).then_nothing(min(2));
        given_chat(gone.clone()).and([sent(BO, "b")]).when(hide(ANA, Some(1))).then_nothing(min(2));
        given_chat(gone).and([sent(BO, "b")]).when(hide(ANA, None)).then(hidden(ANA, 2), min(3));
        given_group([created(BO), joined(ANA), sent(BO, "a"), hidden(ANA, 1), left(ANA)])
            .when(hide(ANA, Some(1)))
            .then_nothing(min(2));
    }

    #[test]
    fn a_repeat_with_a_key_hides_nothing_that_came_since() {
        let key = Uuid::from_u128(7);
        given_chat([sent(ANA, "a")])
            .after(hide_keyed(ANA, key))
            .and([sent(BO, "b")])
            .when(hide_keyed(ANA, key))
            .then_nothing(min(2));
    }

    #[test]
    fn one_key_is_not_for_two_things() {
        let key = Uuid::from_u128(7);
        given_chat([])
            .after(hide_keyed(ANA, key))
            .when(clear_keyed(ANA, key))
            .then_rejected(Rejection::IdempotencyConflict);
        given_chat([])
            .after(clear_keyed(ANA, key))
            .when(hide_keyed(ANA, key))
            .then_rejected(Rejection::IdempotencyConflict);
    }

    #[test]
    fn beyond_the_head_and_from_outside_it_is_refused() {
        given_chat([sent(ANA, "a")])
            .when(hide(ANA, Some(2)))
            .then_rejected(Rejection::ClearBeyondHead { max_seq: seq(1) });
        given_chat([sent(ANA, "a")]).when(hide(CY, None)).then_rejected(Rejection::NotAMember);
        given_group([created(BO)]).when(hide(CY, Some(0))).then_rejected(Rejection::NotAMember);
    }
}
