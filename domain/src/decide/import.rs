//! Lines of an import: facts of elsewhere, recognised by their line when they come again. No message of the system
//! tells of them.

use super::{Decision, membership};
use crate::{
    command::{Import, Reply, Sent, Source},
    content::Flags,
    conv_id::ConvId,
    conversation::{Conversation, Earlier, Key, Need},
    event::{Event, History, StreamKind},
    event_id::unnamed_client_msg_id,
    ids::Uid,
    rejection::Rejection,
};

pub(super) fn needs(conv: &ConvId, line: &Import) -> Vec<Need> {
    match line {
        Import::Message { id, sender, .. } => {
            let mut needs = membership(conv, *sender);
            needs.push(Need::Event(StreamKind::Message, *id));
            needs
        }
        Import::Join { uid, before, .. } => {
            let mut needs = vec![Need::Piece(Key::Group), Need::Piece(Key::Member(*uid))];
            needs.extend(before.map(|id| Need::Event(StreamKind::Message, id)));
            needs
        }
        Import::Leave { uid, .. } => vec![Need::Piece(Key::Group), Need::Piece(Key::Member(*uid))],
    }
}

pub(super) fn decide(state: &Conversation, line: &Import) -> Result<Decision, Rejection> {
    let unchanged = Decision::nothing(Reply::Imported { changed: false });
    let changed = |event| Decision::placed(state, vec![event], Reply::Imported { changed: true });
    match line {
        Import::Message { id, msg_id, sender, content, at } => {
            if let Some(Some(Earlier::Sent { sent, .. })) = state.earlier.get(id) {
                let duplicate = sent.msg_id != *msg_id;
                return Ok(Decision::nothing(Reply::Sent(Sent { duplicate, ..*sent })));
            }
            if !state.is_member(*sender) {
                return Err(Rejection::NotAMember);
            }
            if is_over(state) {
                return Err(Rejection::GroupDissolved);
            }
            let event = Event::MessageSent {
                msg_id: *msg_id,
                sender: (*sender).into(),
                content: content.clone(),
                flags: Flags::NONE,
                mentions: vec![],
                reply_to: None,
                client_msg_id: unnamed_client_msg_id(*id),
                create_at: *at,
            };
            let sent =
                Sent { seq: state.max_seq().next(), msg_id: *msg_id, create_at: *at, duplicate: false };
            Ok(Decision::one(*id, event, Reply::Sent(sent)))
        }
        Import::Join { uid, group_name, source, before } => {
            let there = before.is_some_and(|id| matches!(state.earlier.get(&id), Some(Some(_))));
            if there || state.role(*uid).is_some() || is_done(state, *uid, source) {
                return Ok(unchanged);
            }
            if is_over(state) {
                return Err(Rejection::GroupDissolved);
            }
            let (uid, source) = (*uid, Some(source.clone()));
            Ok(changed(if state.group().is_none() {
                Event::GroupCreated {
                    name: group_name.as_str().to_owned(),
                    owner: uid,
                    history: History::All,
                    announced: false,
                    source,
                }
            } else {
                let joined_seq = state.max_seq();
                Event::MembersJoined { uids: vec![uid], joined_seq, by: uid, announced: false, source }
            }))
        }
        Import::Leave { uid, source } => {
            if state.role(*uid).is_none() || is_done(state, *uid, source) {
                return Ok(unchanged);
            }
            let source = Some(source.clone());
            Ok(changed(Event::MemberLeft { uid: *uid, by: *uid, announced: false, source }))
        }
    }
}

fn is_over(state: &Conversation) -> bool {
    state.group().is_some_and(|group| group.dissolved)
}

/// A second import of the same lines must not undo what later lines have done: a line that does not stand after
/// the last one that changed this person's membership has had its effect.
fn is_done(state: &Conversation, uid: Uid, source: &Source) -> bool {
    let last = state.member(uid).and_then(|member| member.source.as_ref());
    last.is_some_and(|last| last.conv == source.conv && source <= last)
}

#[cfg(test)]
mod tests {
    use crate::{command::Reply, decide::testing::*, rejection::Rejection};

    #[test]
    fn the_first_one_founds_the_group() {
        given_group([]).when(import_join(ANA, 1)).then_event(import_created(ANA, 1));
        given_group([import_created(ANA, 1)]).when(import_join(BO, 2)).then_event(import_joined(BO, 2, 0));
    }

    #[test]
    fn repeated_joins_and_leaves_are_nothing() {
        let no = || Reply::Imported { changed: false };
        given_group([import_created(ANA, 1)]).when(import_join(ANA, 2)).then_nothing(no());
        given_group([import_created(ANA, 1)]).when(import_leave(BO, 2)).then_nothing(no());
    }

    #[test]
    fn a_second_run_does_not_bring_back_who_left_later() {
        let first_run = [import_created(ANA, 1), import_joined(BO, 2, 0), import_left(BO, 9)];
        for line in [2, 5, 9] {
            given_group(first_run.clone())
                .when(import_join(BO, line))
                .then_nothing(Reply::Imported { changed: false });
        }
        given_group(first_run).when(import_join(BO, 10)).then_event(import_joined(BO, 10, 0));
    }

    #[test]
    fn a_second_run_does_not_remove_who_was_added_here_since() {
        let history = [import_created(ANA, 1), import_joined(BO, 2, 0), import_left(BO, 9), joined(BO)];
        given_group(history.clone())
            .when(import_leave(BO, 9))
            .then_nothing(Reply::Imported { changed: false });
        given_group(history).when(import_leave(BO, 10)).then_event(import_left(BO, 10));
    }

    #[test]
    fn a_message_that_is_there_brings_nobody_in() {
        let history = [import_created(ANA, 1), import_joined(BO, 2, 0), imported(BO, "x"), left(BO)];
        given_group(history.clone())
            .when(import_join_before(BO, 3, "x"))
            .then_nothing(Reply::Imported { changed: false });
        given_group(history).when(import_join_before(BO, 3, "y")).then_event(import_joined(BO, 3, 1));
    }

    #[test]
    fn a_line_becomes_one_message() {
        given_chat([]).when(import_message(ANA, "x")).then_sent(1);
        given_chat([imported(ANA, "x")]).when(import_message(ANA, "x")).then_duplicate(1);
        given_chat([]).when(import_message(CY, "x")).then_rejected(Rejection::NotAMember);
    }
}
