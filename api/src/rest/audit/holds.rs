//! Legal holds, on a conversation or on a person: while one stands, neither retention nor erasure takes anything there.

use std::sync::Arc;

use axum::{Json, extract::State};
use domain::{Command, ConvId, Hold, PersonCommand, PersonReply, Reason, Reply, Sender, Uid, ids::Ms};
use event_store::{Action, postgres::holds::HoldOn};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    app::App,
    audit::Asked,
    auth::Caller,
    door::{Body, InPath, OptionalBody, Params, Path, page_limit},
    openapi::{HoldProblems, HoldsProblems},
    problem::{Code, Problem},
};

/// The longest name that stands in the record of accesses, in bytes: a conv_id has fewer.
const NAME_BYTES_MAX: usize = 100;

/// On what a hold is: a uid in decimal, or a conv_id.
pub struct Subject(pub HoldOn);

impl InPath for Subject {
    const NAME: &'static str = "subject";

    fn parse(text: &str) -> Result<Self, Problem> {
        Ok(Self(if text.bytes().all(|byte| byte.is_ascii_digit()) {
            HoldOn::Person(Uid::parse(text)?)
        } else {
            HoldOn::Conversation(ConvId::parse(text)?)
        }))
    }
}

/// A hold on this, in the record of accesses.
pub fn name(on: &HoldOn) -> String {
    match on {
        HoldOn::Conversation(conv) => conv.to_string(),
        HoldOn::Person(uid) => uid.to_string(),
    }
}

/// Why a hold is placed.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct HoldBody {
    /// 1 to 500 characters, none of them a control character.
    reason: String,
}

/// Why a hold is lifted.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LiftBody {
    /// 1 to 500 characters, none of them a control character; "lifted" where it is left out.
    reason: Option<String>,
}

/// A hold that stands.
#[derive(Debug, Serialize, ToSchema)]
pub struct HoldAnswer {
    /// Of one on a conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    conv_id: Option<String>,
    /// Of one on a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    uid: Option<u64>,
    /// Who placed it; 0 is an operator at the command line.
    by: u64,
    /// Why.
    reason: String,
    /// When, in unix ms.
    at: Ms,
}

impl HoldAnswer {
    /// As it is shown.
    pub fn new(on: &HoldOn, Hold { by, reason, at }: &Hold) -> Self {
        let (conv_id, uid) = match on {
            HoldOn::Conversation(conv) => (Some(conv.to_string()), None),
            HoldOn::Person(uid) => (None, Some(uid.get())),
        };
        Self { conv_id, uid, by: by.get(), reason: reason.as_str().to_owned(), at: *at }
    }
}

/// To a lifting.
#[derive(Debug, Serialize, ToSchema)]
pub struct LiftedHold {
    /// Did one stand?
    lifted: bool,
}

/// Checks a reason from outside.
pub fn reason(text: &str) -> Result<Reason, Problem> {
    Reason::parse(text).map_err(|error| Problem::new(Code::InvalidReason, error))
}

/// A reason, for the record of accesses; none where it is no reason.
pub fn told(text: &str) -> Option<&str> {
    Reason::parse(text).is_ok().then_some(text)
}

/// Places a hold. Where one stands already, that one is answered.
#[utoipa::path(
    put, path = "/v1/audit/holds/{subject}", tag = "compliance",
    params(("subject" = String, Path, description = "A conv_id, or a uid in decimal")),
    request_body = HoldBody,
    responses((status = 200, description = "The hold that stands", body = HoldAnswer), HoldProblems),
)]
pub async fn place(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(Subject(on)): Path<Subject>,
    Body(HoldBody { reason: why }): Body<HoldBody>,
) -> Result<Json<HoldAnswer>, Problem> {
    let asked = Asked::about(name(&on)).with("reason", told(&why));
    app.record_access(&caller, Action::PlaceHold, asked).await?;
    let (by, reason, at) = (Sender::Person(caller.uid), reason(&why)?, app.clock.now());
    let hold = match &on {
        HoldOn::Conversation(conv) => {
            match app.command(&caller, conv, Command::Hold { by, reason, at }).await? {
                Reply::Held(hold) => hold,
                _ => return Err(Problem::bug("a hold was answered with something else")),
            }
        }
        HoldOn::Person(uid) => {
            let command = PersonCommand::Hold(Hold { by, reason, at });
            match app.keeping.persons.handle(*uid, &caller.accessor(), &command).await? {
                PersonReply::Held(hold) => hold,
                _ => return Err(Problem::bug("a hold was answered with something else")),
            }
        }
    };
    Ok(Json(HoldAnswer::new(&on, &hold)))
}

/// Lifts a hold. Lifting what does not stand is nothing.
#[utoipa::path(
    delete, path = "/v1/audit/holds/{subject}", tag = "compliance",
    params(("subject" = String, Path, description = "A conv_id, or a uid in decimal")),
    request_body = Option<LiftBody>,
    responses((status = 200, description = "There is none now", body = LiftedHold), HoldProblems),
)]
pub async fn lift(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(Subject(on)): Path<Subject>,
    OptionalBody(LiftBody { reason: why }): OptionalBody<LiftBody>,
) -> Result<Json<LiftedHold>, Problem> {
    let why = why.unwrap_or_else(|| "lifted".to_owned());
    let asked = Asked::about(name(&on)).with("reason", told(&why));
    app.record_access(&caller, Action::LiftHold, asked).await?;
    let (by, reason, at) = (Sender::Person(caller.uid), reason(&why)?, app.clock.now());
    let lifted = match &on {
        HoldOn::Conversation(conv) => {
            match app.command(&caller, conv, Command::Lift { by, reason, at }).await? {
                Reply::Lifted(lifted) => lifted,
                _ => return Err(Problem::bug("a lifting was answered with something else")),
            }
        }
        HoldOn::Person(uid) => {
            let command = PersonCommand::Lift(Hold { by, reason, at });
            match app.keeping.persons.handle(*uid, &caller.accessor(), &command).await? {
                PersonReply::Lifted(lifted) => lifted,
                _ => return Err(Problem::bug("a lifting was answered with something else")),
            }
        }
    };
    Ok(Json(LiftedHold { lifted }))
}

/// The hold that stands on this.
#[utoipa::path(
    get, path = "/v1/audit/holds/{subject}", tag = "compliance",
    params(("subject" = String, Path, description = "A conv_id, or a uid in decimal")),
    responses((status = 200, description = "The hold", body = HoldAnswer), HoldProblems),
)]
pub async fn show(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(Subject(on)): Path<Subject>,
) -> Result<Json<HoldAnswer>, Problem> {
    app.record_access(&caller, Action::ShowHold, Asked::about(name(&on))).await?;
    match app.keeping.hold(&on).await? {
        Some(hold) => Ok(Json(HoldAnswer::new(&on, &hold))),
        None => Err(Problem::new(Code::HoldNotFound, "no hold stands here")),
    }
}

/// Which part of the list.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct HoldsParams {
    /// `next` of the page before.
    after: Option<String>,
    /// 1 to 200, 50 by default.
    limit: Option<u32>,
}

/// Holds.
#[derive(Debug, Serialize, ToSchema)]
pub struct HoldsAnswer {
    holds: Vec<HoldAnswer>,
    /// Where the next page begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// All holds that stand.
#[utoipa::path(
    get, path = "/v1/audit/holds", tag = "compliance",
    params(HoldsParams),
    responses((status = 200, description = "Holds, by name", body = HoldsAnswer), HoldsProblems),
)]
pub async fn list(
    State(app): State<Arc<App>>,
    caller: Caller,
    Params(HoldsParams { after, limit }): Params<HoldsParams>,
) -> Result<Json<HoldsAnswer>, Problem> {
    let asked = Asked::default()
        .with("after", after.as_deref().filter(|after| after.len() <= NAME_BYTES_MAX))
        .with("limit", limit);
    app.record_access(&caller, Action::ShowHold, asked).await?;
    let limit = page_limit(limit)?.get();
    let page = app.keeping.holds(&after.unwrap_or_default(), limit).await?;
    let next = page.last().filter(|_| page.len() == limit as usize).map(|(on, _)| on.cord());
    Ok(Json(HoldsAnswer { holds: page.iter().map(|(on, hold)| HoldAnswer::new(on, hold)).collect(), next }))
}
