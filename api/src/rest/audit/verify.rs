//! Whether a conversation is still what was appended.

use std::sync::Arc;

use axum::{Json, extract::State};
use domain::{ConvId, StreamKind};
use event_store::{
    Action, hex,
    postgres::proof::{ConversationProof, Covering, VerifyFrom, verify_conversation},
    verify::What,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    app::App,
    audit::Asked,
    auth::Caller,
    door::Params,
    openapi::VerifyProblems,
    problem::{Code, Problem},
};

/// Faults that one answer names; past this one knows.
const FAULTS_MAX: usize = 1000;

/// What is to be verified.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct VerifyParams {
    /// Which conversation.
    conv_id: String,
    /// Where the answer before this one left off.
    cursor: Option<String>,
}

/// What was found.
#[derive(Debug, Serialize, ToSchema)]
pub struct VerifyAnswer {
    conv_id: String,
    /// Is nothing wrong with what was looked at?
    ok: bool,
    /// Events whose chain was computed again for this answer, at most about 20,000.
    events: u64,
    /// Where the streams stand that were looked at to their end.
    streams: Vec<StreamState>,
    /// The newest signed checkpoint of each stream that one speaks of; only in the last answer.
    checkpoints: Vec<CheckpointState>,
    /// What is wrong, at most 1,000.
    faults: Vec<FaultAnswer>,
    /// Is more wrong than is named?
    faults_truncated: bool,
    /// To go on with; left out in the last answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
}

/// Where a stream stands.
#[derive(Debug, Serialize, ToSchema)]
pub struct StreamState {
    stream: String,
    version: u64,
    /// The hash of the chain up to there, in hex.
    chain: String,
}

/// What a checkpoint has seen of a stream.
#[derive(Debug, Serialize, ToSchema)]
pub struct CheckpointState {
    stream: String,
    /// How far the stream went then.
    version: u64,
    /// The checkpoint's.
    number: u64,
    /// When it was made, in unix ms.
    at: i64,
    /// Its root, in hex.
    root: String,
    /// The name of the key that signed it.
    key: String,
    /// Does the log still give what it has seen?
    agrees: bool,
}

/// One fault.
#[derive(Debug, Serialize, ToSchema)]
pub struct FaultAnswer {
    /// Null where nobody knows any more.
    stream: Option<String>,
    /// The event's.
    version: Option<u64>,
    shard: Option<u16>,
    /// The event's, where it stands.
    position: Option<u64>,
    /// altered, missing, body_missing, swapped, misplaced, truncated, rewritten or signature.
    #[schema(value_type = String)]
    what: What,
    /// For people.
    detail: String,
}

/// Recomputes the hash chains of a conversation's three streams from the log on disk, some 20,000 events an answer, and
/// at the end whether the newest signed checkpoint of each stream agrees. That a stream was cut off exactly where an older
/// checkpoint has seen it, only `quipu audit verify` finds, which looks at the whole log.
#[utoipa::path(
    get, path = "/v1/audit/verify", tag = "compliance",
    params(VerifyParams),
    responses((status = 200, description = "What was found", body = VerifyAnswer), VerifyProblems),
)]
pub async fn verify(
    State(app): State<Arc<App>>,
    caller: Caller,
    Params(VerifyParams { conv_id, cursor }): Params<VerifyParams>,
) -> Result<Json<VerifyAnswer>, Problem> {
    app.record_access(&caller, Action::Verify, Asked::about(&conv_id).with("cursor", cursor.clone())).await?;
    let conv = ConvId::parse(&conv_id)?;
    let from = cursor.as_deref().map(parse).transpose()?;
    let keys = [app.audit_key];
    let proof = verify_conversation(&app.proof, &conv, &keys, from).await?;
    let none = || Problem::new(Code::ConversationNotFound, "nothing has happened in it");
    Ok(Json(VerifyAnswer::new(&conv, proof.ok_or_else(none)?)))
}

/// Such as `mark-20000`.
fn parse(cursor: &str) -> Result<VerifyFrom, Problem> {
    let parts = cursor.split_once('-').and_then(|(kind, version)| {
        let kind = StreamKind::ALL.into_iter().find(|known| known.name() == kind)?;
        Some(VerifyFrom { kind, version: version.parse().ok()? })
    });
    parts.ok_or_else(|| Problem::new(Code::InvalidCursor, "this is not the cursor of a verification"))
}

impl VerifyAnswer {
    fn new(conv: &ConvId, proof: ConversationProof) -> Self {
        let ConversationProof { events, heads, faults, covered, next } = proof;
        Self {
            conv_id: conv.to_string(),
            ok: faults.is_empty(),
            events,
            streams: heads
                .into_iter()
                .map(|(stream, head)| StreamState {
                    stream: stream.to_string(),
                    version: head.version,
                    chain: hex::encode(&head.chain),
                })
                .collect(),
            checkpoints: covered.iter().map(Into::into).collect(),
            faults_truncated: faults.len() > FAULTS_MAX,
            faults: faults
                .into_iter()
                .take(FAULTS_MAX)
                .map(|it| FaultAnswer {
                    stream: it.stream,
                    version: it.version,
                    shard: it.shard,
                    position: it.position,
                    what: it.what,
                    detail: it.detail,
                })
                .collect(),
            cursor: next.map(|VerifyFrom { kind, version }| format!("{}-{version}", kind.name())),
        }
    }
}

impl From<&Covering> for CheckpointState {
    fn from(it: &Covering) -> Self {
        Self {
            stream: it.stream.to_string(),
            version: it.head.version,
            number: it.checkpoint.unsigned.number,
            at: it.checkpoint.unsigned.at,
            root: hex::encode(&it.checkpoint.root),
            key: it.checkpoint.key.clone(),
            agrees: it.agrees,
        }
    }
}
