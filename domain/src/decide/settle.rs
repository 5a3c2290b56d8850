//! How somebody wants a conversation in their list.

use super::Decision;
use crate::{
    command::Reply,
    conversation::Conversation,
    event::{Event, Settings},
    ids::Uid,
    rejection::Rejection,
};

pub(super) fn decide(
    state: &Conversation,
    uid: Uid,
    pinned: Option<bool>,
    muted: Option<bool>,
) -> Result<Decision, Rejection> {
    let said = state.person(uid).settings;
    let stand = said.unwrap_or_default();
    let settings = Settings { pinned: pinned.unwrap_or(stand.pinned), muted: muted.unwrap_or(stand.muted) };
    // One who has said so and left may say so again; one who never did learns nothing.
    if said == Some(settings) {
        return Ok(Decision::nothing(Reply::Settled(settings)));
    }
    if !state.is_member(uid) {
        return Err(Rejection::NotAMember);
    }
    if settings == stand {
        return Ok(Decision::nothing(Reply::Settled(settings)));
    }
    Ok(Decision::placed(state, vec![Event::SettingsChanged { uid, settings }], Reply::Settled(settings)))
}

#[cfg(test)]
mod tests {
    use crate::{command::Reply, decide::testing::*, event::Settings, rejection::Rejection};

    fn are(pinned: bool, muted: bool) -> Reply {
        Reply::Settled(Settings { pinned, muted })
    }

    #[test]
    fn what_is_left_out_stays() {
        given_chat([]).when(settle(ANA, Some(true), None)).then(settled(ANA, true, false), are(true, false));
        given_chat([settled(ANA, true, false)])
            .when(settle(ANA, None, Some(true)))
            .then(settled(ANA, true, true), are(true, true));
        given_chat([settled(BO, true, true)]).when(settle(ANA, None, None)).then_nothing(are(false, false));
    }

    #[test]
    fn a_repeat_is_nothing_even_after_leaving() {
        given_chat([]).when(settle(ANA, Some(false), Some(false))).then_nothing(are(false, false));
        given_group([created(BO), joined(ANA), settled(ANA, true, false), left(ANA)])
            .when(settle(ANA, Some(true), None))
            .then_nothing(are(true, false));
    }

    #[test]
    fn outsiders_learn_nothing() {
        for (pinned, muted) in [(None, None), (Some(false), Some(false)), (Some(true), None)] {
            given_chat([]).when(settle(CY, pinned, muted)).then_rejected(Rejection::NotAMember);
        }
    }
}
