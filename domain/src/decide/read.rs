//! Having read. A position only goes up; a send moves the sender's without an event.

use super::Decision;
use crate::{
    command::Reply,
    conversation::Conversation,
    event::Event,
    event_id::EventId,
    ids::{Ms, Seq, Uid},
    rejection::Rejection,
};

pub(super) fn decide(state: &Conversation, uid: Uid, read_seq: Seq, at: Ms) -> Result<Decision, Rejection> {
    let stands = state.person(uid).read_seq;
    // One who reported a position and left may report it again; one who never did learns nothing.
    if read_seq <= stands && stands > Seq::ZERO {
        return Ok(Decision::nothing(Reply::Read(stands)));
    }
    if !state.is_member(uid) {
        return Err(Rejection::NotAMember);
    }
    if read_seq > state.max_seq() {
        return Err(Rejection::ReadBeyondHead { max_seq: state.max_seq() });
    }
    if read_seq <= stands {
        return Ok(Decision::nothing(Reply::Read(stands)));
    }
    let event = Event::ReadAdvanced { uid, read_seq, at };
    Ok(Decision::one(EventId::read(&state.id, uid, read_seq), event, Reply::Read(read_seq)))
}

#[cfg(test)]
mod tests {
    use crate::{command::Reply, decide::testing::*, rejection::Rejection};

    #[test]
    fn a_position_only_goes_up() {
        let history = [sent(ANA, "a"), sent(ANA, "b"), read(BO, 1)];
        given_chat(history.clone()).when(have_read(BO, 2)).then(read(BO, 2), Reply::Read(seq(2)));
        given_chat(history.clone()).when(have_read(BO, 1)).then_nothing(Reply::Read(seq(1)));
        given_chat(history).when(have_read(BO, 0)).then_nothing(Reply::Read(seq(1)));
        given_chat([]).when(have_read(BO, 0)).then_nothing(Reply::Read(seq(0)));
    }

    #[test]
    fn nobody_has_read_what_is_not_there() {
        given_chat([sent(ANA, "a")])
            .when(have_read(BO, 2))
            .then_rejected(Rejection::ReadBeyondHead { max_seq: seq(1) });
    }

    #[test]
    fn outsiders_learn_nothing() {
        for n in [0, 1, 9] {
            given_chat([sent(ANA, "a")]).when(have_read(CY, n)).then_rejected(Rejection::NotAMember);
        }
    }

    #[test]
    fn a_repeat_is_answered_after_leaving() {
        given_group([created(BO), joined(ANA), sent(BO, "a"), read(ANA, 1), left(ANA)])
            .when(have_read(ANA, 1))
            .then_nothing(Reply::Read(seq(1)));
    }
}
