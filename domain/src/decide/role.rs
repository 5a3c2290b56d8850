//! Who is what in a group. Only the owner says so; the owner's own role is handed over.

use super::{Decision, active};
use crate::{
    command::Reply,
    conversation::Conversation,
    event::{Event, Role},
    ids::Uid,
    rejection::Rejection,
};

pub(super) fn decide(state: &Conversation, by: Uid, uid: Uid, role: Role) -> Result<Decision, Rejection> {
    if state.member(by).is_some() && state.role(uid) == Some(role) {
        return Ok(Decision::nothing(Reply::Done));
    }
    match active(state, by)?.1 {
        Role::Owner => {}
        Role::Admin | Role::Member => return Err(Rejection::NotAllowed),
    }
    if state.role(uid).is_none() {
        return Err(Rejection::MemberNotFound);
    }
    // The owner's being anything else follows from a hand-over.
    if uid == by {
        return Err(Rejection::OwnerStays);
    }
    let mut events = vec![Event::RoleChanged { uid, role, by }];
    if role == Role::Owner {
        events.push(Event::RoleChanged { uid: by, role: Role::Admin, by });
    }
    Ok(Decision::placed(state, events, Reply::Done))
}

#[cfg(test)]
mod tests {
    use crate::{command::Reply, decide::testing::*, event::Role, rejection::Rejection};

    #[test]
    fn only_the_owner_says_who_is_what() {
        let there = [created(BO), joined(ANA), joined(CY), role(BO, CY, Role::Admin)];
        given_group(there.clone())
            .when(set_role(BO, ANA, Role::Admin))
            .then(role(BO, ANA, Role::Admin), Reply::Done);
        given_group(there.clone())
            .when(set_role(BO, CY, Role::Member))
            .then(role(BO, CY, Role::Member), Reply::Done);
        for by in [ANA, CY] {
            given_group(there.clone())
                .when(set_role(by, ANA, Role::Admin))
                .then_rejected(Rejection::NotAllowed);
        }
        given_group(there.clone()).when(set_role(DAN, ANA, Role::Admin)).then_rejected(Rejection::NotAMember);
        given_group(there).when(set_role(BO, DAN, Role::Admin)).then_rejected(Rejection::MemberNotFound);
    }

    #[test]
    fn who_hands_over_becomes_admin() {
        given_group([created(BO), joined(ANA)])
            .when(set_role(BO, ANA, Role::Owner))
            .then_events([role(BO, ANA, Role::Owner), role(BO, BO, Role::Admin)]);
        let handed =
            || given_group([created(BO), joined(ANA), joined(CY)]).after(set_role(BO, ANA, Role::Owner));
        handed().when(set_role(BO, CY, Role::Admin)).then_rejected(Rejection::NotAllowed);
        handed().when(remove(ANA, BO)).then_told(removed(ANA, BO), "removed");
        handed().when(remove(BO, BO)).then_told(left(BO), "left");
        handed().when(remove(ANA, ANA)).then_rejected(Rejection::OwnerStays);
    }

    #[test]
    fn the_owner_stays_owner_until_somebody_else_is() {
        for other in [Role::Admin, Role::Member] {
            given_group([created(BO), joined(ANA)])
                .when(set_role(BO, BO, other))
                .then_rejected(Rejection::OwnerStays);
        }
    }

    #[test]
    fn a_repeat_is_recognised_before_rights() {
        given_group([created(BO), joined(ANA)])
            .after(set_role(BO, ANA, Role::Owner))
            .when(set_role(BO, ANA, Role::Owner))
            .then_nothing(Reply::Done);
        given_group([created(BO), joined(ANA)])
            .when(set_role(CY, ANA, Role::Member))
            .then_rejected(Rejection::NotAMember);
    }
}
