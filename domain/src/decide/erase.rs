//! Erasure of what one person said here, because the law asks for it. A hold beats it.

use super::Decision;
use crate::{
    command::Reply,
    conversation::{Conversation, Key, Need},
    event::Event,
    ids::{Seq, Uid},
    rejection::Rejection,
};

pub(super) fn needs(seqs: &[Seq]) -> Vec<Need> {
    let messages = seqs.iter().map(|seq| Need::Message(*seq));
    messages.chain([Need::Piece(Key::Keeping)]).collect()
}

/// One that this person did not send refuses the whole: nobody else's words may go. What is erased already may be
/// named again; that changes nothing that anybody sees.
pub(super) fn decide(state: &Conversation, uid: Uid, seqs: &[Seq]) -> Result<Decision, Rejection> {
    if let Some(hold) = state.hold() {
        return Err(Rejection::Held { since: hold.at });
    }
    let own = |seq: &Seq| {
        let message = state.messages.get(seq).copied().flatten();
        message.is_some_and(|message| message.sender.is(uid))
    };
    if let Some(other) = seqs.iter().find(|seq| !own(seq)) {
        return Err(Rejection::MessageNotFound(*other));
    }
    let reply = Reply::Erased(seqs.len() as u64);
    if seqs.is_empty() {
        return Ok(Decision::nothing(reply));
    }
    Ok(Decision::placed(state, vec![Event::BodiesErased { uid, seqs: seqs.to_vec() }], reply))
}

#[cfg(test)]
mod tests {
    use crate::{command::Reply, decide::testing::*, rejection::Rejection};

    #[test]
    fn only_ones_own_words_go() {
        let said = [sent(ANA, "a"), sent(BO, "b"), sent(ANA, "c")];
        given_chat(said.clone()).when(erase(ANA, &[1, 3])).then(erased(ANA, &[1, 3]), Reply::Erased(2));
        given_chat(said.clone()).when(erase(ANA, &[1, 2])).then_rejected(Rejection::MessageNotFound(seq(2)));
        given_chat(said.clone()).when(erase(ANA, &[4])).then_rejected(Rejection::MessageNotFound(seq(4)));
        given_chat(said).when(erase(ANA, &[])).then_nothing(Reply::Erased(0));
    }

    #[test]
    fn a_hold_beats_it_until_it_is_lifted() {
        given_chat([sent(ANA, "a"), held("case")])
            .when(erase(ANA, &[1]))
            .then_rejected(Rejection::Held { since: NOW });
        given_chat([sent(ANA, "a"), held("case"), lifted("over")])
            .when(erase(ANA, &[1]))
            .then(erased(ANA, &[1]), Reply::Erased(1));
    }

    #[test]
    fn one_who_has_left_can_still_be_erased() {
        given_group([created(BO), joined(ANA), sent(ANA, "a"), left(ANA)])
            .when(erase(ANA, &[1]))
            .then(erased(ANA, &[1]), Reply::Erased(1));
    }
}
