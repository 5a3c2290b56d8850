//! What a viewer sees of a message: the one pure function through which every door goes.
//!
//! Stored are the fact and a few labels; outside membership or below min_seq there is nothing. Then deleted before
//! expired before recalled before normal.

use crate::{
    content::{Content, Flags},
    conversation::Recall,
    ids::{ClientMsgId, Ms, Sender, Seq, Uid},
    snowflake::MsgId,
};

/// A message as it was sent. Never changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// Its number.
    pub seq: Seq,
    /// Its id.
    pub msg_id: MsgId,
    /// From whom.
    pub sender: Sender,
    /// What it says.
    pub content: Content,
    /// at_all or nothing.
    pub flags: Flags,
    /// Whom it names.
    pub mentions: Vec<Uid>,
    /// Which message it answers.
    pub reply_to: Option<Seq>,
    /// The client's name for it.
    pub client_msg_id: ClientMsgId,
    /// When it was said.
    pub create_at: Ms,
}

/// What has become of a message since, for one viewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Labels {
    /// Taken back, for all.
    pub recalled: Option<Recall>,
    /// Deleted by this viewer, for this viewer.
    pub deleted: bool,
    /// Its body is gone: erasure or retention.
    pub expired: bool,
}

/// Who looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Viewer {
    /// In the conversation now?
    pub member: bool,
    /// The lowest seq that they may see.
    pub min_seq: Seq,
}

/// What is seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View<'a> {
    /// Not even that there is something.
    Nothing,
    /// `{"seq","state":"deleted"}`.
    Deleted,
    /// `{"seq","state":"expired"}`.
    Expired,
    /// The header without the body.
    Recalled(&'a Fact, Recall),
    /// All of it.
    Normal(&'a Fact),
}

/// What this viewer sees of this message. A fact that is not there any more has expired.
pub fn view<'a>(seq: Seq, fact: Option<&'a Fact>, labels: &Labels, viewer: &Viewer) -> View<'a> {
    if !viewer.member || seq < viewer.min_seq {
        return View::Nothing;
    }
    if labels.deleted {
        return View::Deleted;
    }
    match (fact, labels.recalled) {
        _ if labels.expired => View::Expired,
        (None, _) => View::Expired,
        (Some(fact), Some(recall)) => View::Recalled(fact, recall),
        (Some(fact), None) => View::Normal(fact),
    }
}

/// The lowest seq that a member sees: above what they cleared, what was before they joined (zero where the group
/// shows everything) and what retention has taken.
pub fn min_seq(cleared: Seq, joined: Seq, expired: Seq) -> Seq {
    cleared.max(joined).max(expired).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fact() -> Fact {
        Fact {
            seq: Seq::new(5),
            msg_id: MsgId::new(1),
            sender: Sender::System,
            content: Content::text("x", 10).unwrap(),
            flags: Flags::NONE,
            mentions: vec![],
            reply_to: None,
            client_msg_id: ClientMsgId::new(uuid::Uuid::nil()),
            create_at: 0,
        }
    }

    #[test]
    fn deleted_before_expired_before_recalled_before_normal_and_nothing_before_all() {
        let fact = fact();
        let recall = Recall { by: Uid::new(1).unwrap(), at: 1 };
        for bits in 0..32u8 {
            let [outside, below, deleted, expired, recalled] = [16, 8, 4, 2, 1].map(|bit| bits & bit != 0);
            let labels = Labels { recalled: recalled.then_some(recall), deleted, expired };
            let viewer = Viewer { member: !outside, min_seq: Seq::new(if below { 6 } else { 5 }) };
            let expected = match () {
                () if outside || below => View::Nothing,
                () if deleted => View::Deleted,
                () if expired => View::Expired,
                () if recalled => View::Recalled(&fact, recall),
                () => View::Normal(&fact),
            };
            assert_eq!(view(fact.seq, Some(&fact), &labels, &viewer), expected, "{bits:05b}");
        }
    }

    #[test]
    fn a_body_that_is_gone_has_expired() {
        let viewer = Viewer { member: true, min_seq: Seq::new(1) };
        assert_eq!(view(Seq::new(5), None, &Labels::default(), &viewer), View::Expired);
    }

    #[test]
    fn min_seq_is_above_every_watermark() {
        let min = |c, j, e| min_seq(Seq::new(c), Seq::new(j), Seq::new(e)).get();
        assert_eq!([min(0, 0, 0), min(3, 0, 0), min(3, 7, 0), min(3, 7, 9)], [1, 4, 8, 10]);
    }
}
