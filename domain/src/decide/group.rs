//! Founding a group, bringing people in, removing them.

use super::{Decision, active};
use crate::{
    command::{Reply, Stamp},
    conversation::{Conversation, Key, Need},
    event::{Event, History, Invite, MEMBERS_PER_EVENT, Role},
    group::{Group, GroupName},
    ids::Uid,
    notice::Notice,
    rejection::Rejection,
};

pub(super) fn needs<'a>(uids: impl IntoIterator<Item = &'a Uid>) -> Vec<Need> {
    let members = uids.into_iter().map(|uid| Need::Piece(Key::Member(*uid)));
    [Need::Piece(Key::Group)].into_iter().chain(members).collect()
}

pub(super) fn create(
    state: &Conversation,
    owner: Uid,
    name: &GroupName,
    members: &[Uid],
    history: History,
    limit: u32,
    stamp: Stamp,
) -> Result<Decision, Rejection> {
    if let Some(group) = state.group() {
        return if is_the_same(state, group, owner, name, members, history) {
            Ok(Decision::nothing(Reply::Created { duplicate: true }))
        } else {
            Err(Rejection::GroupExists)
        };
    }
    if members.len() as u64 + 1 > u64::from(limit) {
        return Err(Rejection::GroupFull { limit });
    }
    let created =
        Event::GroupCreated { name: name.as_str().to_owned(), owner, history, announced: true, source: None };
    let events = [created].into_iter().chain(joinings(state, members, owner)).collect();
    let founded = Notice::Founded { name: name.as_str(), uids: members };
    Ok(Decision::placed(state, events, Reply::Created { duplicate: false })
        .told(state, owner, founded, stamp))
}

/// A repeat names the facts of the founding, whatever the group is called now. Members may have come and gone since;
/// all of the named ones were in once.
fn is_the_same(
    state: &Conversation,
    group: &Group,
    owner: Uid,
    name: &GroupName,
    members: &[Uid],
    history: History,
) -> bool {
    group.creator == owner
        && group.founded_as == (name.as_str().to_owned(), history)
        && members.iter().all(|uid| state.member(*uid).is_some())
}

pub(super) fn add(
    state: &Conversation,
    by: Uid,
    uids: &[Uid],
    limit: u32,
    stamp: Stamp,
) -> Result<Decision, Rejection> {
    let new: Vec<Uid> = uids.iter().copied().filter(|uid| state.role(*uid).is_none()).collect();
    // A repeat of what one did before leaving; to those who never were in, it tells nothing.
    if new.is_empty() && state.member(by).is_some() {
        return Ok(Decision::nothing(Reply::Added(vec![])));
    }
    let (group, role) = active(state, by)?;
    match (role, group.invite) {
        (Role::Owner | Role::Admin, _) | (Role::Member, Invite::Members) => {}
        (Role::Member, Invite::Admins) => return Err(Rejection::NotAllowed),
    }
    if u64::from(group.members) + new.len() as u64 > u64::from(limit) {
        return Err(Rejection::GroupFull { limit });
    }
    let events = joinings(state, &new, by).collect();
    let joined = Notice::Joined { uids: &new };
    Ok(Decision::placed(state, events, Reply::Added(new.clone())).told(state, by, joined, stamp))
}

pub(super) fn remove(state: &Conversation, by: Uid, uid: Uid, stamp: Stamp) -> Result<Decision, Rejection> {
    let was_in = state.member(uid).is_some();
    if state.member(by).is_some() && was_in && state.role(uid).is_none() {
        return Ok(Decision::nothing(Reply::Removed));
    }
    if by == uid {
        return leave(state, uid, stamp);
    }
    match (active(state, by)?.1, state.role(uid)) {
        (Role::Member, _) => Err(Rejection::NotAllowed),
        (Role::Owner | Role::Admin, None) => Err(Rejection::MemberNotFound),
        (Role::Owner | Role::Admin, Some(Role::Owner)) => Err(Rejection::OwnerStays),
        (Role::Admin, Some(Role::Admin)) => Err(Rejection::NotAllowed),
        (Role::Owner, Some(Role::Admin)) | (Role::Owner | Role::Admin, Some(Role::Member)) => {
            let event = Event::MemberLeft { uid, by, announced: true, source: None };
            let decision = Decision::placed(state, vec![event], Reply::Removed);
            Ok(decision.told(state, by, Notice::Removed { uid }, stamp))
        }
    }
}

/// Everybody may, but an owner hands over first. Out of a group that is over one goes in silence.
fn leave(state: &Conversation, uid: Uid, stamp: Stamp) -> Result<Decision, Rejection> {
    let (Some(group), Some(role)) = (state.group(), state.role(uid)) else {
        return Err(Rejection::NotAMember);
    };
    if role == Role::Owner && group.members > 1 && !group.dissolved {
        return Err(Rejection::OwnerStays);
    }
    let event = Event::MemberLeft { uid, by: uid, announced: !group.dissolved, source: None };
    let decision = Decision::placed(state, vec![event], Reply::Removed);
    Ok(if group.dissolved { decision } else { decision.told(state, uid, Notice::Left, stamp) })
}

fn joinings(state: &Conversation, uids: &[Uid], by: Uid) -> impl Iterator<Item = Event> {
    let joined_seq = state.max_seq();
    let event = move |uids: &[Uid]| Event::MembersJoined {
        uids: uids.to_vec(),
        joined_seq,
        by,
        announced: true,
        source: None,
    };
    uids.chunks(MEMBERS_PER_EVENT).map(event)
}

#[cfg(test)]
mod tests {
    use crate::{command::Reply, decide::testing::*, rejection::Rejection};

    #[test]
    fn a_group_is_founded_once() {
        given_group([])
            .when(create(BO, &[ANA, CY]))
            .then_all_told([created(BO), joined_many(BO, &[ANA, CY], 0)], "founded");
        let there = [created(BO), joined_many(BO, &[ANA, CY], 0)];
        given_group(there.clone())
            .when(create(BO, &[ANA, CY]))
            .then_nothing(Reply::Created { duplicate: true });
        given_group(there.clone()).when(create(ANA, &[BO, CY])).then_rejected(Rejection::GroupExists);
        given_group(there).when(create(BO, &[DAN])).then_rejected(Rejection::GroupExists);
    }

    #[test]
    fn size_is_limited() {
        given_group([])
            .when(create_limited(BO, &[ANA, CY], 2))
            .then_rejected(Rejection::GroupFull { limit: 2 });
        given_group([created(BO), joined(ANA)])
            .when(add_limited(BO, &[CY], 2))
            .then_rejected(Rejection::GroupFull { limit: 2 });
    }

    #[test]
    fn members_added_twice_come_in_once() {
        let added = given_group([created(BO), joined(ANA), sent(BO, "a")])
            .when(add(BO, &[ANA, CY]))
            .then_told(joined_many(BO, &[CY], 1), "joined");
        assert_eq!(added, Reply::Added(vec![CY]));
        given_group([created(BO), joined(ANA)]).when(add(BO, &[ANA])).then_nothing(Reply::Added(vec![]));
    }

    #[test]
    fn members_cannot_add_and_outsiders_learn_nothing() {
        given_group([created(BO), joined(ANA)]).when(add(ANA, &[CY])).then_rejected(Rejection::NotAllowed);
        given_group([created(BO)]).when(add(CY, &[DAN])).then_rejected(Rejection::NotAMember);
        given_group([created(BO)]).when(add(CY, &[BO])).then_rejected(Rejection::NotAMember);
        given_group([]).when(add(CY, &[DAN])).then_rejected(Rejection::NotAMember);
    }

    #[test]
    fn leaving_and_being_removed() {
        let there = [created(BO), joined(ANA), joined(CY)];
        given_group(there.clone()).when(remove(ANA, ANA)).then_told(left(ANA), "left");
        given_group(there.clone()).when(remove(BO, ANA)).then_told(removed(BO, ANA), "removed");
        given_group(there.clone()).when(remove(ANA, CY)).then_rejected(Rejection::NotAllowed);
        given_group(there.clone()).when(remove(BO, BO)).then_rejected(Rejection::OwnerStays);
        given_group(there.clone()).when(remove(BO, DAN)).then_rejected(Rejection::MemberNotFound);
        given_group(there).when(remove(DAN, DAN)).then_rejected(Rejection::NotAMember);
        given_group([created(BO)]).when(remove(BO, BO)).then_told(left(BO), "left");
    }

    #[test]
    fn leaving_twice_is_leaving_once() {
        let gone = [created(BO), joined(ANA), left(ANA)];
        given_group(gone.clone()).when(remove(ANA, ANA)).then_nothing(Reply::Removed);
        given_group(gone).when(remove(BO, ANA)).then_nothing(Reply::Removed);
    }

    #[test]
    fn coming_back_starts_a_new_membership() {
        given_group([created(BO), joined(ANA), left(ANA), sent(BO, "a")])
            .when(add(BO, &[ANA]))
            .then_told(joined_many(BO, &[ANA], 1), "joined");
    }

    #[test]
    fn the_first_message_that_one_sees_tells_of_ones_joining() {
        let joined = || given_group([created(BO), sent(BO, "a")]).after(add(BO, &[ANA]));
        joined().when(reply(ANA, 1)).then_rejected(Rejection::MessageNotFound(seq(1)));
        joined().when(reply(ANA, 2)).then_sent(3);
        given_group([]).after(create(BO, &[ANA])).when(reply(BO, 1)).then_sent(2);
    }
}
