//! Legal holds on a conversation: while one stands, neither retention nor erasure takes anything.

use super::Decision;
use crate::{
    command::Reply,
    conversation::Conversation,
    event::Event,
    ids::{Ms, Sender},
    keeping::{Hold, Reason},
    rejection::Rejection,
};

/// Where one stands already, that one is answered: it says who, when and why.
pub(super) fn place(
    state: &Conversation,
    by: Sender,
    reason: &Reason,
    at: Ms,
) -> Result<Decision, Rejection> {
    if let Some(hold) = state.hold() {
        return Ok(Decision::nothing(Reply::Held(hold.clone())));
    }
    if state.versions == [0; 3] {
        return Err(Rejection::NoConversation);
    }
    let hold = Hold { by, reason: reason.clone(), at };
    let event = Event::HoldPlaced { by, reason: reason.clone(), at };
    Ok(Decision::placed(state, vec![event], Reply::Held(hold)))
}

pub(super) fn lift(state: &Conversation, by: Sender, reason: &Reason, at: Ms) -> Result<Decision, Rejection> {
    if state.versions == [0; 3] {
        return Err(Rejection::NoConversation);
    }
    if state.hold().is_none() {
        return Ok(Decision::nothing(Reply::Lifted(false)));
    }
    let event = Event::HoldLifted { by, reason: reason.clone(), at };
    Ok(Decision::placed(state, vec![event], Reply::Lifted(true)))
}

#[cfg(test)]
mod tests {
    use crate::{
        command::Reply,
        decide::testing::*,
        ids::Sender,
        keeping::{Hold, Reason},
        rejection::Rejection,
    };

    fn stands(reason: &str) -> Reply {
        let reason = Reason::parse(reason).unwrap();
        Reply::Held(Hold { by: Sender::Person(CY), reason, at: NOW })
    }

    #[test]
    fn the_first_one_stands_until_it_is_lifted() {
        given_chat([sent(ANA, "a")]).when(hold("case")).then(held("case"), stands("case"));
        given_chat([sent(ANA, "a"), held("case")]).when(hold("other")).then_nothing(stands("case"));
        given_chat([sent(ANA, "a"), held("case")])
            .when(lift("over"))
            .then(lifted("over"), Reply::Lifted(true));
        given_chat([sent(ANA, "a"), held("case"), lifted("over")])
            .when(hold("again"))
            .then(held("again"), stands("again"));
    }

    #[test]
    fn lifting_what_does_not_stand_is_nothing() {
        given_chat([sent(ANA, "a")]).when(lift("over")).then_nothing(Reply::Lifted(false));
    }

    #[test]
    fn what_does_not_exist_cannot_be_held() {
        given_chat([]).when(hold("case")).then_rejected(Rejection::NoConversation);
        given_group([]).when(lift("over")).then_rejected(Rejection::NoConversation);
    }
}
