//! Founding a group, bringing people in, removing them.

use super::Decision;
use crate::{
    command::{GroupName, Reply},
    conversation::{Conversation, Group, Key, Need},
    event::{Event, History, MEMBERS_PER_EVENT, Role, StreamKind},
    event_id::EventId,
    ids::Uid,
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
    let created = Event::GroupCreated { name: name.as_str().to_owned(), owner, history, source: None };
    let events = [created].into_iter().chain(joinings(state, members, owner)).collect();
    Ok(placed(state, events, Reply::Created { duplicate: false }))
}

/// A repeat names the same facts. Members may have come and gone since; all of the named ones were in once.
fn is_the_same(
    state: &Conversation,
    group: &Group,
    owner: Uid,
    name: &GroupName,
    members: &[Uid],
    history: History,
) -> bool {
    group.creator == owner
        && group.name == name.as_str()
        && group.history == history
        && members.iter().all(|uid| state.member(*uid).is_some())
}

pub(super) fn add(state: &Conversation, by: Uid, uids: &[Uid], limit: u32) -> Result<Decision, Rejection> {
    let new: Vec<Uid> = uids.iter().copied().filter(|uid| state.role(*uid).is_none()).collect();
    // A repeat of what one did before leaving; to those who never were in, it tells nothing.
    if new.is_empty() && state.member(by).is_some() {
        return Ok(Decision::nothing(Reply::Added(vec![])));
    }
    let group = state.group().ok_or(Rejection::NotAMember)?;
    lead(state, by)?;
    if u64::from(group.members) + new.len() as u64 > u64::from(limit) {
        return Err(Rejection::GroupFull { limit });
    }
    let events = joinings(state, &new, by).collect();
    Ok(placed(state, events, Reply::Added(new)))
}

pub(super) fn remove(state: &Conversation, by: Uid, uid: Uid) -> Result<Decision, Rejection> {
    let was_in = state.member(uid).is_some();
    if state.member(by).is_some() && was_in && state.role(uid).is_none() {
        return Ok(Decision::nothing(Reply::Removed));
    }
    let group = state.group().ok_or(Rejection::NotAMember)?;
    if by != uid {
        lead(state, by)?;
    }
    match state.role(uid) {
        None if by == uid => return Err(Rejection::NotAMember),
        None => return Err(Rejection::MemberNotFound),
        Some(Role::Owner) if group.members > 1 => return Err(Rejection::OwnerStays),
        Some(Role::Admin) if by != uid && state.role(by) != Some(Role::Owner) => {
            return Err(Rejection::NotAllowed);
        }
        Some(Role::Owner | Role::Admin | Role::Member) => {}
    }
    Ok(placed(state, vec![Event::MemberLeft { uid, by, source: None }], Reply::Removed))
}

fn lead(state: &Conversation, uid: Uid) -> Result<(), Rejection> {
    match state.role(uid) {
        Some(Role::Owner | Role::Admin) => Ok(()),
        Some(Role::Member) => Err(Rejection::NotAllowed),
        None => Err(Rejection::NotAMember),
    }
}

fn joinings(state: &Conversation, uids: &[Uid], by: Uid) -> impl Iterator<Item = Event> {
    let joined_seq = state.max_seq();
    let event =
        move |uids: &[Uid]| Event::MembersJoined { uids: uids.to_vec(), joined_seq, by, source: None };
    uids.chunks(MEMBERS_PER_EVENT).map(event)
}

/// Facts that can happen again, named by their place.
pub(super) fn placed(state: &Conversation, events: Vec<Event>, reply: Reply) -> Decision {
    let version = state.version(StreamKind::Group);
    let id = |index| EventId::placed(&state.id, StreamKind::Group, version, index);
    Decision {
        events: events.into_iter().enumerate().map(|(index, event)| (id(index), event)).collect(),
        reply,
    }
}

#[cfg(test)]
mod tests {
    use crate::{command::Reply, decide::testing::*, rejection::Rejection};

    #[test]
    fn a_group_is_founded_once() {
        given_group([])
            .when(create(BO, &[ANA, CY]))
            .then_events([created(BO), joined_many(BO, &[ANA, CY], 0)]);
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
        given_group([created(BO), joined(ANA), sent(BO, "a")])
            .when(add(BO, &[ANA, CY]))
            .then(joined_many(BO, &[CY], 1), Reply::Added(vec![CY]));
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
        given_group(there.clone()).when(remove(ANA, ANA)).then_event(left(ANA));
        given_group(there.clone()).when(remove(BO, ANA)).then_event(removed(BO, ANA));
        given_group(there.clone()).when(remove(ANA, CY)).then_rejected(Rejection::NotAllowed);
        given_group(there.clone()).when(remove(BO, BO)).then_rejected(Rejection::OwnerStays);
        given_group(there.clone()).when(remove(BO, DAN)).then_rejected(Rejection::MemberNotFound);
        given_group(there).when(remove(DAN, DAN)).then_rejected(Rejection::NotAMember);
        given_group([created(BO)]).when(remove(BO, BO)).then_event(left(BO));
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
            .then(joined_many(BO, &[ANA], 1), Reply::Added(vec![ANA]));
    }
}
