//! Retention: one raised watermark for everybody. A hold beats it.

use super::Decision;
use crate::{
    command::Reply, conversation::Conversation, event::Event, event_id::EventId, ids::Seq,
    rejection::Rejection,
};

pub(super) fn decide(state: &Conversation, up_to_seq: Seq) -> Result<Decision, Rejection> {
    let stands = state.expired_seq();
    if up_to_seq <= stands {
        return Ok(Decision::nothing(Reply::Expired(stands)));
    }
    if let Some(hold) = state.hold() {
        return Err(Rejection::Held { since: hold.at });
    }
    if up_to_seq > state.max_seq() {
        return Err(Rejection::ExpireBeyondHead { max_seq: state.max_seq() });
    }
    let id = EventId::expired(&state.id, up_to_seq);
    Ok(Decision::one(id, Event::HistoryExpired { up_to_seq }, Reply::Expired(up_to_seq)))
}

#[cfg(test)]
mod tests {
    use crate::{command::Reply, decide::testing::*, rejection::Rejection};

    #[test]
    fn the_watermark_only_goes_up() {
        let said = [sent(ANA, "a"), sent(BO, "b"), sent(ANA, "c")];
        given_chat(said.clone()).when(expire(2)).then(expired(2), Reply::Expired(seq(2)));
        for n in 1..=2 {
            given_chat(said.clone()).and([expired(2)]).when(expire(n)).then_nothing(Reply::Expired(seq(2)));
        }
        given_chat(said).and([expired(2)]).when(expire(3)).then(expired(3), Reply::Expired(seq(3)));
    }

    #[test]
    fn beyond_the_head_is_refused() {
        given_chat([sent(ANA, "a")])
            .when(expire(2))
            .then_rejected(Rejection::ExpireBeyondHead { max_seq: seq(1) });
    }

    #[test]
    fn a_hold_beats_it_until_it_is_lifted() {
        given_chat([sent(ANA, "a"), held("case")])
            .when(expire(1))
            .then_rejected(Rejection::Held { since: NOW });
        given_chat([sent(ANA, "a"), held("case"), lifted("over")])
            .when(expire(1))
            .then(expired(1), Reply::Expired(seq(1)));
    }

    #[test]
    fn what_has_expired_is_there_for_nobody() {
        let said = [sent(ANA, "a"), sent(BO, "b"), expired(1)];
        given_chat(said.clone()).when(recall(ANA, 1)).then_rejected(Rejection::MessageNotFound(seq(1)));
        given_chat(said.clone()).when(delete(ANA, &[1])).then_nothing(Reply::Deleted(0));
        given_chat(said.clone()).when(reply(BO, 1)).then_rejected(Rejection::MessageNotFound(seq(1)));
        given_chat(said).when(clear(BO, Some(1))).then(cleared(BO, 1), Reply::Cleared { min_seq: seq(2) });
    }
}
