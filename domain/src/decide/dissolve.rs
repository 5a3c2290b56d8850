//! Ending a group. It stays readable: reading, deleting for oneself, clearing, hiding, recalling and leaving go on.

use super::{Decision, active};
use crate::{
    command::{Reply, Stamp},
    conversation::Conversation,
    event::{Event, Role},
    ids::Uid,
    notice::Notice,
    rejection::Rejection,
};

pub(super) fn decide(state: &Conversation, by: Uid, stamp: Stamp) -> Result<Decision, Rejection> {
    if state.member(by).is_some() && state.group().is_some_and(|group| group.dissolved) {
        return Ok(Decision::nothing(Reply::Done));
    }
    match active(state, by)?.1 {
        Role::Owner => {}
        Role::Admin | Role::Member => return Err(Rejection::NotAllowed),
    }
    let decision = Decision::placed(state, vec![Event::GroupDissolved { by }], Reply::Done);
    Ok(decision.told(state, by, Notice::Dissolved, stamp))
}

#[cfg(test)]
mod tests {
    use crate::{
        command::Reply,
        decide::testing::*,
        event::{GroupChange, Role},
        rejection::Rejection,
    };

    fn over() -> Given {
        given_group([created(BO), joined(ANA), sent(ANA, "a"), dissolved(BO)])
    }

    #[test]
    fn only_the_owner_may_and_once() {
        let there = [created(BO), joined(ANA), joined(CY), role(BO, CY, Role::Admin)];
        given_group(there.clone()).when(dissolve(BO)).then_told(dissolved(BO), "dissolved");
        for by in [ANA, CY] {
            given_group(there.clone()).when(dissolve(by)).then_rejected(Rejection::NotAllowed);
        }
        given_group(there).when(dissolve(DAN)).then_rejected(Rejection::NotAMember);
        over().when(dissolve(BO)).then_nothing(Reply::Done);
        over().when(dissolve(CY)).then_rejected(Rejection::NotAMember);
    }

    #[test]
    fn nothing_is_sent_and_nobody_joins_or_changes_anything() {
        let gone = || Rejection::GroupDissolved;
        over().when(send(BO, "b")).then_rejected(gone());
        over().when(add(BO, &[CY])).then_rejected(gone());
        over().when(remove(BO, ANA)).then_rejected(gone());
        over().when(set_role(BO, ANA, Role::Admin)).then_rejected(gone());
        let renamed = GroupChange { name: Some("New".into()), ..GroupChange::default() };
        over().when(change(BO, renamed)).then_rejected(gone());
        over().when(import_join(CY, 1)).then_rejected(gone());
        over().when(import_message(ANA, "x")).then_rejected(gone());
    }

    #[test]
    fn repeats_from_before_are_still_recognised() {
        over().when(send(ANA, "a")).then_duplicate(1);
        over().when(add(BO, &[ANA])).then_nothing(Reply::Added(vec![]));
        over().when(create(BO, &[ANA])).then_nothing(Reply::Created { duplicate: true });
    }

    #[test]
    fn what_one_does_for_oneself_goes_on() {
        over().when(have_read(BO, 1)).then_event(read(BO, 1));
        over().when(delete(BO, &[1])).then_event(deleted(BO, &[1]));
        over().when(clear(BO, None)).then_event(cleared(BO, 1));
        over().when(hide(BO, None)).then_event(hidden(BO, 1));
        over().when(settle(BO, Some(true), None)).then_event(settled(BO, true, false));
    }

    #[test]
    fn what_was_said_can_still_be_taken_back() {
        over().when(recall(ANA, 1)).then_event(recalled(ANA, 1));
    }

    #[test]
    fn everybody_leaves_in_silence() {
        over().when(remove(ANA, ANA)).then_event(left_unsaid(ANA));
        over().when(remove(BO, BO)).then_event(left_unsaid(BO));
    }
}
