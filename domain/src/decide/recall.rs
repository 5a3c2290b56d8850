//! Taking a message back, for all. The body stays in the log for compliance.

use super::{Decision, standing};
use crate::{
    command::{Caller, Reply},
    conv_id::ConvId,
    conversation::{Conversation, Key, MessageFact, Need, Recall},
    event::{Event, Role},
    event_id::EventId,
    ids::{Ms, Sender, Seq, Uid},
    rejection::Rejection,
};

pub(super) fn needs(conv: &ConvId, seq: Seq, by: Uid) -> Vec<Need> {
    let mut needs = standing(conv, by);
    needs.extend([Need::Message(seq), Need::Piece(Key::Recall(seq))]);
    needs
}

pub(super) fn decide(
    state: &Conversation,
    seq: Seq,
    by: Caller,
    at: Ms,
    window: Ms,
) -> Result<Decision, Rejection> {
    let earlier = state.recalls.get(&seq).copied().flatten();
    let answer = |recall: Recall| Reply::Recalled { seq, by: recall.by, at: recall.at };
    if let Some(recall) = earlier.filter(|recall| recall.by == by.uid) {
        return Ok(Decision::nothing(answer(recall)));
    }
    if !state.is_member(by.uid) && !by.admin {
        return Err(Rejection::NotAMember);
    }
    let message = state.messages.get(&seq).copied().flatten().ok_or(Rejection::MessageNotFound(seq))?;
    if !by.admin {
        may_recall(state, seq, &message, by.uid, at, window)?;
    }
    if let Some(recall) = earlier {
        return Ok(Decision::nothing(answer(recall)));
    }
    let event = Event::MessageRecalled { seq, by: by.uid, at };
    Ok(Decision::one(EventId::recalled(&state.id, seq), event, answer(Recall { by: by.uid, at })))
}

fn may_recall(
    state: &Conversation,
    seq: Seq,
    message: &MessageFact,
    by: Uid,
    at: Ms,
    window: Ms,
) -> Result<(), Rejection> {
    if seq < state.min_seq(by) {
        return Err(Rejection::MessageNotFound(seq));
    }
    // What the system says of a group is not the group's to take back.
    if message.sender == Sender::System {
        return Err(Rejection::NotSender);
    }
    match state.role(by) {
        Some(Role::Owner | Role::Admin) => return Ok(()),
        Some(Role::Member) | None => {}
    }
    if !message.sender.is(by) {
        return Err(Rejection::NotSender);
    }
    if window > 0 && at.saturating_sub(message.create_at) > window {
        return Err(Rejection::RecallWindowPassed { seconds: window / 1000 });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::{command::Reply, decide::testing::*, rejection::Rejection};

    #[test]
    fn the_sender_may_within_the_window() {
        given_chat([sent(ANA, "a")]).when(recall_at(ANA, 1, NOW + WINDOW)).then_event(recalled_at(
            ANA,
            1,
            NOW + WINDOW,
        ));
        given_chat([sent(ANA, "a")])
            .when(recall_at(ANA, 1, NOW + WINDOW + 1))
            .then_rejected(Rejection::RecallWindowPassed { seconds: 120 });
    }

    #[test]
    fn a_repeat_is_recognised_after_the_window_and_after_leaving() {
        let first = Reply::Recalled { seq: seq(1), by: ANA, at: NOW };
        given_chat([sent(ANA, "a"), recalled(ANA, 1)])
            .when(recall_at(ANA, 1, NOW + 10 * WINDOW))
            .then_nothing(first.clone());
        given_group([created(BO), joined(ANA), sent(ANA, "a"), recalled(ANA, 1), left(ANA)])
            .when(recall(ANA, 1))
            .then_nothing(first);
    }

    #[test]
    fn nobody_else_may() {
        given_chat([sent(ANA, "a")]).when(recall(BO, 1)).then_rejected(Rejection::NotSender);
        given_chat([sent(ANA, "a"), recalled(ANA, 1)])
            .when(recall(BO, 1))
            .then_rejected(Rejection::NotSender);
        given_chat([sent(ANA, "a")]).when(recall(CY, 1)).then_rejected(Rejection::NotAMember);
        given_chat([]).when(recall(CY, 1)).then_rejected(Rejection::NotAMember);
    }

    #[test]
    fn the_groups_owner_may_at_any_time() {
        given_group([created(BO), joined(ANA), sent(ANA, "a")])
            .when(recall_at(BO, 1, NOW + 100 * WINDOW))
            .then_event(recalled_at(BO, 1, NOW + 100 * WINDOW));
    }

    #[test]
    fn what_the_system_says_is_not_the_groups_to_take_back() {
        let told = || given_group([created(BO)]).after(add(BO, &[ANA]));
        told().when(recall(BO, 1)).then_rejected(Rejection::NotSender);
        told().when(recall_as_admin(CY, 1)).then_event(recalled(CY, 1));
    }

    #[test]
    fn a_server_admin_may_without_being_a_member() {
        given_chat([sent(ANA, "a")]).when(recall_as_admin(CY, 1)).then_event(recalled_at(CY, 1, NOW));
        given_chat([]).when(recall_as_admin(CY, 1)).then_rejected(Rejection::MessageNotFound(seq(1)));
    }

    #[test]
    fn what_is_recalled_already_keeps_its_first_answer() {
        given_group([created(BO), joined(ANA), sent(ANA, "a"), recalled(ANA, 1)])
            .when(recall(BO, 1))
            .then_nothing(Reply::Recalled { seq: seq(1), by: ANA, at: NOW });
    }

    #[test]
    fn there_must_be_a_message_that_the_caller_sees() {
        given_chat([sent(ANA, "a")]).when(recall(ANA, 2)).then_rejected(Rejection::MessageNotFound(seq(2)));
        given_chat([sent(ANA, "a"), cleared(ANA, 1)])
            .when(recall(ANA, 1))
            .then_rejected(Rejection::MessageNotFound(seq(1)));
    }
}
