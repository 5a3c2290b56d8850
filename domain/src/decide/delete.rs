//! Deleting messages for oneself, and undoing it.

use super::{Decision, standing};
use crate::{
    bucket::Bucket,
    command::Reply,
    conv_id::ConvId,
    conversation::{Conversation, Key, Need},
    event::{Event, StreamKind},
    event_id::EventId,
    ids::{Seq, Uid},
    rejection::Rejection,
};

pub(super) fn needs(conv: &ConvId, uid: Uid, seqs: &[Seq]) -> Vec<Need> {
    let mut buckets: Vec<_> = seqs.iter().map(|seq| Bucket::of(*seq)).collect();
    buckets.dedup();
    let mut needs = standing(conv, uid);
    needs.extend(buckets.into_iter().map(|bucket| Need::Piece(Key::Deleted(uid, bucket))));
    needs
}

/// Seqs that the caller cannot see are left alone and not counted; one beyond the head refuses the whole.
pub(super) fn delete(state: &Conversation, uid: Uid, seqs: &[Seq]) -> Result<Decision, Rejection> {
    let deleted = |seq: &Seq| state.has_deleted(uid, *seq);
    if seqs.iter().all(deleted) {
        return Ok(Decision::nothing(Reply::Deleted(seqs.len() as u64)));
    }
    check(state, uid, seqs)?;
    let min_seq = state.min_seq(uid);
    let new: Vec<Seq> = seqs.iter().copied().filter(|seq| *seq >= min_seq && !deleted(seq)).collect();
    let reply = Reply::Deleted((new.len() + seqs.iter().filter(|seq| deleted(seq)).count()) as u64);
    Ok(changed(state, new, reply, |seqs| Event::MessagesDeletedFor { uid, seqs }))
}

/// The opposite: what is not deleted stays as it is and counts as restored.
pub(super) fn restore(state: &Conversation, uid: Uid, seqs: &[Seq]) -> Result<Decision, Rejection> {
    if is_undone(state, uid, seqs) {
        return Ok(Decision::nothing(Reply::Restored(seqs.len() as u64)));
    }
    check(state, uid, seqs)?;
    let back: Vec<Seq> = seqs.iter().copied().filter(|seq| state.has_deleted(uid, *seq)).collect();
    let reply = Reply::Restored(seqs.len() as u64);
    Ok(changed(state, back, reply, |seqs| Event::MessagesRestoredFor { uid, seqs }))
}

/// Who was a member once and has none of these deleted may be repeating a command, so leaving changes nothing.
fn is_undone(state: &Conversation, uid: Uid, seqs: &[Seq]) -> bool {
    let shown = |seq: &Seq| exists(state, *seq) && !state.has_deleted(uid, *seq);
    state.was_member(uid) && seqs.iter().all(shown)
}

fn exists(state: &Conversation, seq: Seq) -> bool {
    seq != Seq::ZERO && seq <= state.max_seq()
}

fn check(state: &Conversation, uid: Uid, seqs: &[Seq]) -> Result<(), Rejection> {
    if !state.is_member(uid) {
        return Err(Rejection::NotAMember);
    }
    match seqs.iter().find(|seq| !exists(state, **seq)) {
        Some(beyond) => Err(Rejection::MessageNotFound(*beyond)),
        None => Ok(()),
    }
}

fn changed(
    state: &Conversation,
    seqs: Vec<Seq>,
    reply: Reply,
    event: impl Fn(Vec<Seq>) -> Event,
) -> Decision {
    if seqs.is_empty() {
        return Decision::nothing(reply);
    }
    let id = EventId::placed(&state.id, StreamKind::Mark, state.version(StreamKind::Mark), 0);
    Decision::one(id, event(seqs), reply)
}

#[cfg(test)]
mod tests {
    use crate::{command::Reply, decide::testing::*, rejection::Rejection};

    #[test]
    fn only_what_is_new_becomes_a_fact() {
        given_chat([sent(ANA, "a"), sent(BO, "b"), deleted(ANA, &[1])])
            .when(delete(ANA, &[1, 2]))
            .then(deleted(ANA, &[2]), Reply::Deleted(2));
    }

    #[test]
    fn a_repeat_changes_nothing_even_after_leaving() {
        given_group([created(BO), joined(ANA), sent(ANA, "a"), deleted(ANA, &[1]), left(ANA)])
            .when(delete(ANA, &[1]))
            .then_nothing(Reply::Deleted(1));
    }

    #[test]
    fn one_persons_deleting_is_nobody_elses() {
        given_chat([sent(ANA, "a"), deleted(ANA, &[1])])
            .when(delete(BO, &[1]))
            .then(deleted(BO, &[1]), Reply::Deleted(1));
    }

    #[test]
    fn beyond_the_head_nothing_is_half_done() {
        given_chat([sent(ANA, "a")])
            .when(delete(ANA, &[1, 2]))
            .then_rejected(Rejection::MessageNotFound(seq(2)));
        given_chat([]).when(delete(CY, &[1])).then_rejected(Rejection::NotAMember);
    }

    #[test]
    fn what_was_cleared_is_left_alone() {
        given_chat([sent(ANA, "a"), sent(ANA, "b"), cleared(ANA, 1)])
            .when(delete(ANA, &[1, 2]))
            .then(deleted(ANA, &[2]), Reply::Deleted(1));
    }

    #[test]
    fn a_repeated_undoing_gets_its_first_answer_even_after_leaving() {
        let undone =
            [created(BO), joined(ANA), sent(BO, "a"), deleted(ANA, &[1]), restored(ANA, &[1]), left(ANA)];
        given_group(undone.clone()).when(restore(ANA, &[1])).then_nothing(Reply::Restored(1));
        given_group(undone.clone()).when(restore(ANA, &[2])).then_rejected(Rejection::NotAMember);
        given_group(undone).when(restore(CY, &[1])).then_rejected(Rejection::NotAMember);
        // What is still deleted would have to change.
        given_group([created(BO), joined(ANA), sent(BO, "a"), deleted(ANA, &[1]), left(ANA)])
            .when(restore(ANA, &[1]))
            .then_rejected(Rejection::NotAMember);
    }

    #[test]
    fn deleting_can_be_undone_and_done_again() {
        let once = [sent(ANA, "a"), deleted(ANA, &[1])];
        given_chat(once.clone()).when(restore(ANA, &[1])).then(restored(ANA, &[1]), Reply::Restored(1));
        let undone = once.into_iter().chain([restored(ANA, &[1])]);
        given_chat(undone.clone()).when(restore(ANA, &[1])).then_nothing(Reply::Restored(1));
        given_chat(undone).when(delete(ANA, &[1])).then(deleted(ANA, &[1]), Reply::Deleted(1));
    }
}
