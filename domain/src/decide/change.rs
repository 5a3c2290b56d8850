//! A group's own facts: name, history, who may send and who may bring people in.

use super::{Decision, active};
use crate::{
    command::{Reply, Stamp},
    conversation::Conversation,
    event::{Event, GroupChange, Role},
    group::Group,
    ids::Uid,
    notice::Notice,
    rejection::Rejection,
};

pub(super) fn decide(
    state: &Conversation,
    by: Uid,
    change: &GroupChange,
    stamp: Stamp,
) -> Result<Decision, Rejection> {
    if let (Some(group), Some(_)) = (state.group(), state.member(by))
        && left_to_do(group, change) == GroupChange::default()
    {
        return Ok(Decision::nothing(Reply::Done));
    }
    let (group, role) = active(state, by)?;
    match role {
        Role::Owner => {}
        Role::Admin | Role::Member => return Err(Rejection::NotAllowed),
    }
    let change = left_to_do(group, change);
    let name = change.name.clone();
    let decision = Decision::placed(state, vec![Event::GroupChanged { change, by }], Reply::Done);
    Ok(match &name {
        Some(name) => decision.told(state, by, Notice::Renamed { name }, stamp),
        None => decision,
    })
}

/// What of a change is not so already.
fn left_to_do(group: &Group, change: &GroupChange) -> GroupChange {
    let GroupChange { name, history, mute_all, invite } = change.clone();
    GroupChange {
        name: name.filter(|name| *name != group.name),
        history: history.filter(|history| *history != group.history),
        mute_all: mute_all.filter(|mute_all| *mute_all != group.mute_all),
        invite: invite.filter(|invite| *invite != group.invite),
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        command::Reply,
        decide::testing::*,
        event::{GroupChange, History, Invite, Role},
        rejection::Rejection,
    };

    fn named(name: &str) -> GroupChange {
        GroupChange { name: Some(name.into()), ..GroupChange::default() }
    }

    fn muted(mute_all: bool) -> GroupChange {
        GroupChange { mute_all: Some(mute_all), ..GroupChange::default() }
    }

    fn shows(history: History) -> GroupChange {
        GroupChange { history: Some(history), ..GroupChange::default() }
    }

    fn invited_by(invite: Invite) -> GroupChange {
        GroupChange { invite: Some(invite), ..GroupChange::default() }
    }

    #[test]
    fn only_what_is_new_is_a_fact_and_only_a_name_is_told() {
        given_group([created(BO)])
            .when(change(BO, GroupChange { history: Some(History::Joined), ..named("New") }))
            .then_told(changed(BO, named("New")), "renamed");
        given_group([created(BO)])
            .when(change(BO, GroupChange { invite: Some(Invite::Members), ..muted(true) }))
            .then(changed(BO, GroupChange { invite: Some(Invite::Members), ..muted(true) }), Reply::Done);
    }

    #[test]
    fn only_the_owner_may() {
        let there = [created(BO), joined(ANA), joined(CY), role(BO, CY, Role::Admin)];
        for by in [ANA, CY] {
            given_group(there.clone()).when(change(by, named("New"))).then_rejected(Rejection::NotAllowed);
        }
        given_group(there.clone()).when(change(DAN, named("New"))).then_rejected(Rejection::NotAMember);
        given_group(there).when(change(DAN, named("Team"))).then_rejected(Rejection::NotAMember);
    }

    #[test]
    fn a_repeat_is_recognised_before_rights() {
        given_group([created(BO), joined(ANA), changed(BO, named("New"))])
            .after(set_role(BO, ANA, Role::Owner))
            .when(change(BO, named("New")))
            .then_nothing(Reply::Done);
    }

    #[test]
    fn a_founding_is_repeated_by_its_first_name() {
        given_group([created(BO), changed(BO, GroupChange { history: Some(History::All), ..named("New") })])
            .when(create(BO, &[]))
            .then_nothing(Reply::Created { duplicate: true });
    }

    #[test]
    fn of_a_muted_group_only_owner_and_admins_send() {
        let quiet = [created(BO), joined(ANA), joined(CY), role(BO, CY, Role::Admin), sent(ANA, "before")];
        let muted_one = || given_group(quiet.clone()).and([changed(BO, muted(true))]);
        muted_one().when(send(ANA, "a")).then_rejected(Rejection::Muted);
        muted_one().when(send(DAN, "a")).then_rejected(Rejection::NotAMember);
        muted_one().when(send(ANA, "before")).then_duplicate(1);
        muted_one().when(send(BO, "a")).then_sent(2);
        muted_one().when(send(CY, "a")).then_sent(2);
        muted_one().and([changed(BO, muted(false))]).when(send(ANA, "a")).then_sent(2);
    }

    #[test]
    fn a_change_of_history_works_backwards() {
        let there = [created(BO), sent(BO, "a"), sent(BO, "b"), joined(ANA), sent(BO, "c")];
        given_group(there.clone()).when(reply(ANA, 2)).then_rejected(Rejection::MessageNotFound(seq(2)));
        given_group(there.clone()).when(reply(ANA, 3)).then_sent(4);
        let opened = there.into_iter().chain([changed(BO, shows(History::All))]);
        given_group(opened.clone()).when(reply(ANA, 1)).then_sent(4);
        given_group(opened.chain([changed(BO, shows(History::Joined))]))
            .when(reply(ANA, 2))
            .then_rejected(Rejection::MessageNotFound(seq(2)));
    }

    #[test]
    fn members_bring_people_in_where_they_may() {
        let there = [created(BO), joined(ANA), changed(BO, invited_by(Invite::Members))];
        given_group(there.clone()).when(add(ANA, &[CY])).then_told(joined_many(ANA, &[CY], 0), "joined");
        given_group(there).when(remove(ANA, BO)).then_rejected(Rejection::NotAllowed);
    }
}
