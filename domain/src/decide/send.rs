//! Saying something.

use super::{Decision, membership, standing};
use crate::{
    command::{Reply, Send, Sent},
    conv_id::ConvId,
    conversation::{Conversation, Earlier, Need, Said},
    event::{Event, Role, StreamKind},
    event_id::EventId,
    group::Group,
    ids::Seq,
    rejection::Rejection,
};

pub(super) fn needs(conv: &ConvId, send: &Send) -> Vec<Need> {
    let id = EventId::sent(conv, send.sender, send.client_msg_id);
    let mut needs =
        if send.reply_to.is_some() { standing(conv, send.sender) } else { membership(conv, send.sender) };
    needs.push(Need::Event(StreamKind::Message, id));
    needs
}

pub(super) fn decide(state: &Conversation, send: &Send) -> Result<Decision, Rejection> {
    let id = EventId::sent(&state.id, send.sender, send.client_msg_id);
    if let Some(Some(Earlier::Sent { sent, said })) = state.earlier.get(&id) {
        if said.as_ref().is_some_and(|said| !says(send, said)) {
            return Err(Rejection::IdempotencyConflict);
        }
        // After an unknown outcome the worker decides again: what carries this command's own id is no repeat.
        let duplicate = sent.msg_id != send.msg_id;
        return Ok(Decision::nothing(Reply::Sent(Sent { duplicate, ..*sent })));
    }
    if !state.is_member(send.sender) {
        return Err(Rejection::NotAMember);
    }
    if let Some(group) = state.group() {
        may_send(group, state.role(send.sender))?;
    }
    if let Some(quoted) = send.reply_to
        && (quoted == Seq::ZERO || quoted > state.max_seq() || quoted < state.min_seq(send.sender))
    {
        return Err(Rejection::MessageNotFound(quoted));
    }
    let event = Event::MessageSent {
        msg_id: send.msg_id,
        sender: send.sender.into(),
        content: send.content.clone(),
        flags: send.flags,
        mentions: send.mentions.clone(),
        reply_to: send.reply_to,
        client_msg_id: send.client_msg_id,
        create_at: send.at,
    };
    let (seq, msg_id, create_at) = (state.max_seq().next(), send.msg_id, send.at);
    Ok(Decision::one(id, event, Reply::Sent(Sent { seq, msg_id, create_at, duplicate: false })))
}

fn may_send(group: &Group, role: Option<Role>) -> Result<(), Rejection> {
    match role {
        _ if group.dissolved => Err(Rejection::GroupDissolved),
        Some(Role::Member) if group.mute_all => Err(Rejection::Muted),
        Some(Role::Owner | Role::Admin | Role::Member) | None => Ok(()),
    }
}

fn says(send: &Send, said: &Said) -> bool {
    send.content == said.content
        && send.flags == said.flags
        && send.mentions == said.mentions
        && send.reply_to == said.reply_to
}

#[cfg(test)]
mod tests {
    use crate::{decide::testing::*, rejection::Rejection};

    #[test]
    fn the_nth_message_has_seq_n() {
        given_chat([]).when(send(ANA, "a")).then_sent(1);
        given_chat([sent(ANA, "a"), read(BO, 1), sent(BO, "b")]).when(send(ANA, "c")).then_sent(3);
    }

    #[test]
    fn a_repeat_gets_the_first_answer_and_nothing_happens() {
        given_chat([sent(ANA, "a"), sent(BO, "b")]).when(send(ANA, "a")).then_duplicate(1);
    }

    #[test]
    fn a_repeat_gets_the_first_answer_even_after_leaving() {
        given_group([created(BO), joined(ANA), sent(ANA, "a"), left(ANA)])
            .when(send(ANA, "a"))
            .then_duplicate(1);
    }

    #[test]
    fn the_same_id_with_another_payload_is_a_conflict() {
        given_chat([sent(ANA, "a")])
            .when(send_as(ANA, "a", "b"))
            .then_rejected(Rejection::IdempotencyConflict);
    }

    #[test]
    fn another_sender_may_use_the_same_client_msg_id() {
        given_chat([sent(ANA, "a")]).when(send(BO, "a")).then_sent(2);
    }

    #[test]
    fn outsiders_cannot_send() {
        given_chat([]).when(send(CY, "a")).then_rejected(Rejection::NotAMember);
        given_group([]).when(send(ANA, "a")).then_rejected(Rejection::NotAMember);
        given_group([created(BO)]).when(send(ANA, "a")).then_rejected(Rejection::NotAMember);
    }

    #[test]
    fn someone_who_left_cannot_send() {
        given_group([created(BO), joined(ANA), left(ANA)])
            .when(send(ANA, "still here?"))
            .then_rejected(Rejection::NotAMember);
    }

    #[test]
    fn only_what_the_sender_sees_can_be_quoted() {
        given_chat([sent(ANA, "a")]).when(reply(BO, 1)).then_sent(2);
        given_chat([sent(ANA, "a")]).when(reply(BO, 2)).then_rejected(Rejection::MessageNotFound(seq(2)));
        given_chat([sent(ANA, "a"), cleared(BO, 1)])
            .when(reply(BO, 1))
            .then_rejected(Rejection::MessageNotFound(seq(1)));
        given_group([created(BO), sent(BO, "a"), joined(ANA)])
            .when(reply(ANA, 1))
            .then_rejected(Rejection::MessageNotFound(seq(1)));
    }
}
