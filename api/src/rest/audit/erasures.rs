//! Erasure of a person: asked for here, worked on in the background, told of here.

use std::sync::Arc;

use axum::{Json, extract::State, http::StatusCode};
use domain::{Erasure, Hold, PersonCommand, PersonReply, Sender, Uid, ids::Ms};
use event_store::Action;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::holds::{reason, told};
use crate::{
    app::App,
    audit::Asked,
    auth::Caller,
    door::{Body, Path},
    keeping::report::Report,
    openapi::{ErasureProblems, ErasuresProblems},
    problem::{Code, Problem},
};

/// Whose words are to go, and why.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ErasureBody {
    /// The person.
    uid: u64,
    /// 1 to 500 characters, none of them a control character.
    reason: String,
}

/// How an erasure stands.
#[derive(Debug, Serialize, ToSchema)]
pub struct ErasureAnswer {
    /// The person.
    uid: u64,
    /// `running` or `done`.
    status: &'static str,
    /// Who asked for it; 0 is an operator at the command line.
    by: u64,
    /// Why.
    reason: String,
    /// When it was asked for, in unix ms.
    asked_at: Ms,
    /// When it came to its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    done_at: Option<Ms>,
    /// What was removed where, once it has come to its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<Report>,
}

impl ErasureAnswer {
    fn new(uid: Uid, Erasure { asked, done }: Erasure) -> Self {
        let (done_at, report) = done.unzip();
        Self {
            uid: uid.get(),
            status: if done_at.is_some() { "done" } else { "running" },
            by: asked.by.get(),
            reason: asked.reason.as_str().to_owned(),
            asked_at: asked.at,
            done_at,
            // One of a later version may have what this one does not know.
            report: report.and_then(|report| serde_json::from_str(&report).ok()),
        }
    }
}

/// Has everything erased that a person has said. Where that is under way, it is the same one.
#[utoipa::path(
    post, path = "/v1/audit/erasures", tag = "compliance",
    request_body = ErasureBody,
    responses((status = 202, description = "It is worked on", body = ErasureAnswer), ErasuresProblems),
)]
pub async fn ask(
    State(app): State<Arc<App>>,
    caller: Caller,
    Body(ErasureBody { uid, reason: why }): Body<ErasureBody>,
) -> Result<(StatusCode, Json<ErasureAnswer>), Problem> {
    let asked = Asked::about(uid).with("reason", told(&why));
    app.record_access(&caller, Action::Erase, asked).await?;
    let (uid, reason, at) = (Uid::new(uid)?, reason(&why)?, app.clock.now());
    let command = PersonCommand::Erase(Hold { by: Sender::Person(caller.uid), reason, at });
    match app.keeping.persons.handle(uid, &caller.accessor(), &command).await? {
        PersonReply::Erasure(erasure) => {
            app.keeping.nudge();
            Ok((StatusCode::ACCEPTED, Json(ErasureAnswer::new(uid, erasure))))
        }
        _ => Err(Problem::bug("an erasure was answered with something else")),
    }
}

/// How the newest erasure of a person stands.
#[utoipa::path(
    get, path = "/v1/audit/erasures/{uid}", tag = "compliance",
    params(("uid" = u64, Path)),
    responses((status = 200, description = "The erasure", body = ErasureAnswer), ErasureProblems),
)]
pub async fn show(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(uid): Path<Uid>,
) -> Result<Json<ErasureAnswer>, Problem> {
    app.record_access(&caller, Action::ShowErasure, Asked::about(uid)).await?;
    match app.keeping.persons.state(uid).await?.erasure {
        Some(erasure) => Ok(Json(ErasureAnswer::new(uid, erasure))),
        None => Err(Problem::new(Code::ErasureNotFound, "nobody has asked for an erasure of this person")),
    }
}
