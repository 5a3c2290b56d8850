//! What stands about one person's words as a whole: a legal hold on them, and their erasure. In a stream of the
//! person's own; decides as conversations do in [`decide`](crate::decide()): facts or a reason.

use crate::{
    event_id::EventId,
    ids::{Ms, Sender, Uid},
    keeping::{Hold, Reason},
    rejection::Rejection,
};

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PersonEvent {
    /// Nothing that this person said, or that was said where they are or were, is taken from now on.
    HoldPlaced(Hold),
    /// The hold is over.
    HoldLifted(Hold),
    /// Everything that this person has said is to go. The three are as of a hold: by whom, why, when.
    ErasureAsked(Hold),
    /// It is gone.
    ErasureDone {
        /// When.
        at: Ms,
        /// What was removed where: JSON.
        report: String,
    },
}

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PersonCommand {
    /// Place a hold.
    Hold(Hold),
    /// Lift it.
    Lift(Hold),
    /// Erase.
    Erase(Hold),
    /// The erasure that was asked for has come to its end.
    Done {
        /// Now.
        at: Ms,
        /// What was removed where: JSON.
        report: String,
    },
}

/// The newest erasure of a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Erasure {
    /// By whom, why and when it was asked for.
    pub asked: Hold,
    /// When it came to its end, and what was removed where (JSON).
    pub done: Option<(Ms, String)>,
}

/// What stands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PersonState {
    /// The hold.
    pub hold: Option<Hold>,
    /// The newest erasure.
    pub erasure: Option<Erasure>,
}

/// What is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PersonReply {
    /// To Hold: the one that stands, which may be an earlier one.
    Held(Hold),
    /// To Lift: did one stand?
    Lifted(bool),
    /// To Erase and Done: the newest erasure.
    Erasure(Erasure),
    /// To Done: nobody has asked for an erasure.
    Nothing,
}

impl PersonState {
    /// The fact that a command comes to, if any, and what stands after it.
    pub fn decide(&self, command: &PersonCommand) -> Result<Option<PersonEvent>, Rejection> {
        Ok(match (command, &self.hold, &self.erasure) {
            (PersonCommand::Hold(_), Some(_), _) | (PersonCommand::Lift(_), None, _) => None,
            (PersonCommand::Hold(hold), None, _) => Some(PersonEvent::HoldPlaced(hold.clone())),
            (PersonCommand::Lift(lift), Some(_), _) => Some(PersonEvent::HoldLifted(lift.clone())),
            // One that is under way is the same one: it ends by itself, or where a hold stops it.
            (PersonCommand::Erase(_), _, Some(Erasure { done: None, .. })) => None,
            (PersonCommand::Erase(_), Some(hold), _) => return Err(Rejection::Held { since: hold.at }),
            (PersonCommand::Erase(asked), None, _) => Some(PersonEvent::ErasureAsked(asked.clone())),
            (PersonCommand::Done { at, report }, _, Some(Erasure { done: None, .. })) => {
                Some(PersonEvent::ErasureDone { at: *at, report: report.clone() })
            }
            (PersonCommand::Done { .. }, ..) => None,
        })
    }

    /// What stands after a fact.
    pub fn evolve(&mut self, event: PersonEvent) {
        match event {
            PersonEvent::HoldPlaced(hold) => self.hold = Some(hold),
            PersonEvent::HoldLifted(_) => self.hold = None,
            PersonEvent::ErasureAsked(asked) => self.erasure = Some(Erasure { asked, done: None }),
            PersonEvent::ErasureDone { at, report } => {
                if let Some(erasure) = &mut self.erasure {
                    erasure.done = Some((at, report));
                }
            }
        }
    }

    /// What is answered, once the fact has been taken in; `changed` where there was one.
    pub fn reply(&self, command: &PersonCommand, changed: bool) -> PersonReply {
        match (command, &self.hold, &self.erasure) {
            (PersonCommand::Hold(_), Some(hold), _) => PersonReply::Held(hold.clone()),
            (PersonCommand::Hold(hold), None, _) => PersonReply::Held(hold.clone()),
            (PersonCommand::Lift(_), ..) => PersonReply::Lifted(changed),
            (PersonCommand::Erase(_) | PersonCommand::Done { .. }, _, Some(erasure)) => {
                PersonReply::Erasure(erasure.clone())
            }
            (PersonCommand::Erase(_) | PersonCommand::Done { .. }, _, None) => PersonReply::Nothing,
        }
    }
}

impl EventId {
    /// What can happen again, about a person: decided when their stream stood at `version`.
    pub fn of_person(uid: Uid, version: u64) -> Self {
        Self::named(&format!("placed/person-{uid}/{version}/0"))
    }
}

impl PersonEvent {
    /// Who did it.
    pub fn by(&self) -> Sender {
        match self {
            Self::HoldPlaced(it) | Self::HoldLifted(it) | Self::ErasureAsked(it) => it.by,
            Self::ErasureDone { .. } => Sender::System,
        }
    }
}

/// By somebody, for a reason, now.
pub fn said(by: Sender, reason: Reason, at: Ms) -> Hold {
    Hold { by, reason, at }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn it(reason: &str) -> Hold {
        said(Sender::System, Reason::parse(reason).unwrap(), 5)
    }

    /// Decides and evolves.
    fn after(state: &mut PersonState, command: PersonCommand) -> Result<(bool, PersonReply), Rejection> {
        let event = state.decide(&command)?;
        let changed = event.is_some();
        event.into_iter().for_each(|event| state.evolve(event));
        Ok((changed, state.reply(&command, changed)))
    }

    #[test]
    fn the_first_hold_stands_until_it_is_lifted() {
        let mut state = PersonState::default();
        let hold = |reason| PersonCommand::Hold(it(reason));
        assert_eq!(after(&mut state, hold("a")), Ok((true, PersonReply::Held(it("a")))));
        assert_eq!(after(&mut state, hold("b")), Ok((false, PersonReply::Held(it("a")))));
        assert_eq!(after(&mut state, PersonCommand::Lift(it("over"))), Ok((true, PersonReply::Lifted(true))));
        assert_eq!(
            after(&mut state, PersonCommand::Lift(it("over"))),
            Ok((false, PersonReply::Lifted(false)))
        );
        assert_eq!(after(&mut state, hold("b")), Ok((true, PersonReply::Held(it("b")))));
    }

    #[test]
    fn a_hold_beats_an_erasure() {
        let mut state = PersonState { hold: Some(it("case")), ..PersonState::default() };
        let erase = PersonCommand::Erase(it("they asked"));
        assert_eq!(after(&mut state, erase.clone()), Err(Rejection::Held { since: 5 }));
        state.hold = None;
        assert!(after(&mut state, erase).unwrap().0);
    }

    #[test]
    fn one_erasure_at_a_time_and_another_after_it() {
        let mut state = PersonState::default();
        let erase = |reason| PersonCommand::Erase(it(reason));
        let done = || PersonCommand::Done { at: 9, report: "{}".into() };
        assert_eq!(after(&mut state, done()), Ok((false, PersonReply::Nothing)));
        let open = PersonReply::Erasure(Erasure { asked: it("a"), done: None });
        assert_eq!(after(&mut state, erase("a")), Ok((true, open.clone())));
        assert_eq!(after(&mut state, erase("b")), Ok((false, open)));
        let ended = PersonReply::Erasure(Erasure { asked: it("a"), done: Some((9, "{}".into())) });
        assert_eq!(after(&mut state, done()), Ok((true, ended.clone())));
        assert_eq!(after(&mut state, done()), Ok((false, ended)));
        assert!(after(&mut state, erase("c")).unwrap().0, "they have spoken since");
    }
}
