//! Sending, paging, recalling.

use std::sync::Arc;

use axum::{Json, extract::State, http::StatusCode};
use domain::{Caller as Asking, ClientMsgId, Command, Content, ConvId, Flags, Ms, Reply, Send, Seq};
use projections::query::Range;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use super::{
    act::{Act, act},
    answers::{PageAnswer, SentAnswer},
    lists::uids,
};
use crate::{
    app::App,
    auth::Caller,
    door::{Body, Params, Path, page_limit},
    openapi::{CommandProblems, QueryProblems, RecallProblems, SendProblems},
    problem::{Code, Problem},
};

/// People that one message may name; more is what at_all is for.
const MENTIONS_MAX: usize = 1000;

/// A message to be sent.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SendBody {
    /// A UUID of the client's making: the same one again is the same message.
    client_msg_id: String,
    /// 1 text, 2 image, 3 voice, 4 video, 5 file, 6 location, 7 card, 100..=127 the app's own.
    msg_type: u64,
    /// A string or an object, as msg_type has it; at most 64 KiB by default.
    content: Value,
    /// Is it for everybody's attention?
    #[serde(default)]
    at_all: bool,
    /// Whom it names: at most 1000 uids.
    #[serde(default)]
    mentions: Vec<u64>,
    /// The seq of the message that it answers.
    reply_to: Option<u64>,
}

impl Act for SendBody {
    type Answer = SentAnswer;

    /// A new message gets a new id.
    async fn command(self, app: &App, caller: &Caller, _: Option<Uuid>) -> Result<Command, Problem> {
        Ok(Command::Send(Send {
            client_msg_id: ClientMsgId::parse(&self.client_msg_id)?,
            content: Content::parse(self.msg_type, &self.content, app.limits.content_bytes)?,
            flags: if self.at_all { Flags::AT_ALL } else { Flags::NONE },
            mentions: uids("mentions", 0..=MENTIONS_MAX, self.mentions)?,
            reply_to: self.reply_to.map(Seq::of_message).transpose()?,
            msg_id: app.msg_ids.next_in_time().await?,
            sender: caller.uid,
            at: app.clock.now(),
        }))
    }

    async fn answer(_: &App, _: &Caller, conv: &ConvId, reply: Reply) -> Result<SentAnswer, Problem> {
        let Reply::Sent(sent) = reply else {
            return Err(Problem::bug("a send was answered with something else"));
        };
        Ok(SentAnswer::new(conv, &sent))
    }
}

/// Sends a message. The answer comes once it is durable and numbered.
#[utoipa::path(
    post, path = "/v1/conversations/{conv_id}/messages", tag = "messages",
    params(("conv_id" = String, Path, description = "p2p-<uid>-<uid> or grp-<slug>")),
    request_body = SendBody,
    responses(
        (status = 201, description = "Sent", body = SentAnswer),
        (status = 200, description = "Sent before: the first answer", body = SentAnswer),
        SendProblems,
    ),
)]
pub async fn send(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(conv): Path<ConvId>,
    Body(body): Body<SendBody>,
) -> Result<(StatusCode, Json<SentAnswer>), Problem> {
    let sent = act(&app, &caller, &conv, None, body).await?;
    let status = if sent.duplicate { StatusCode::OK } else { StatusCode::CREATED };
    Ok((status, Json(sent)))
}

/// Which part of a history.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PageParams {
    /// Only what is below it.
    before_seq: Option<u64>,
    /// Only what is above it.
    after_seq: Option<u64>,
    /// 1..=200, 50 by default.
    limit: Option<u32>,
}

/// A page of the history: exactly one item for every seq that it covers.
#[utoipa::path(
    get, path = "/v1/conversations/{conv_id}/messages", tag = "messages",
    params(("conv_id" = String, Path), PageParams),
    responses((status = 200, description = "The page", body = PageAnswer), QueryProblems),
)]
pub async fn page(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(conv): Path<ConvId>,
    Params(params): Params<PageParams>,
) -> Result<Json<PageAnswer>, Problem> {
    params.page(&app, &caller, &conv).await.map(Json)
}

impl PageParams {
    /// Reads it.
    pub async fn page(self, app: &App, caller: &Caller, conv: &ConvId) -> Result<PageAnswer, Problem> {
        let bound = |seq: Option<u64>| seq.map(Seq::new);
        let range = Range { before_seq: bound(self.before_seq), after_seq: bound(self.after_seq) };
        Ok(app.read_models.page(conv, caller.uid, range, page_limit(self.limit)?).await?.into())
    }
}

/// A message to be taken back.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecallBody {
    /// Which one.
    pub seq: u64,
}

impl Act for RecallBody {
    type Answer = RecalledMessage;

    async fn command(self, app: &App, caller: &Caller, _: Option<Uuid>) -> Result<Command, Problem> {
        let seq = Seq::of_message(self.seq)?;
        let by = Asking { uid: caller.uid, admin: caller.roles.admin };
        Ok(Command::Recall { seq, by, at: app.clock.now(), window: app.limits.recall_window })
    }

    async fn answer(_: &App, _: &Caller, conv: &ConvId, reply: Reply) -> Result<RecalledMessage, Problem> {
        let Reply::Recalled { seq, by, at } = reply else {
            return Err(Problem::bug("a recall was answered with something else"));
        };
        let (seq, recalled_by) = (seq.get(), by.get());
        Ok(RecalledMessage { conv_id: conv.to_string(), seq, recalled_by, recalled_at: at })
    }
}

/// To a recall.
#[derive(Debug, Serialize, ToSchema)]
pub struct RecalledMessage {
    conv_id: String,
    seq: u64,
    recalled_by: u64,
    recalled_at: Ms,
}

/// Takes a message back, for all.
#[utoipa::path(
    post, path = "/v1/conversations/{conv_id}/messages/{seq}/recall", tag = "messages",
    params(("conv_id" = String, Path), ("seq" = u64, Path)),
    responses((status = 200, description = "Recalled, now or before", body = RecalledMessage), RecallProblems),
)]
pub async fn recall(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(conv): Path<ConvId>,
    Path(seq): Path<Seq>,
) -> Result<Json<RecalledMessage>, Problem> {
    act(&app, &caller, &conv, None, RecallBody { seq: seq.get() }).await.map(Json)
}

/// Messages named one by one.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SeqsBody {
    /// 1 to 1000 of them.
    seqs: Vec<u64>,
}

impl SeqsBody {
    /// Ascending, each once.
    pub fn seqs(self) -> Result<Vec<Seq>, Problem> {
        /// A screen of a telephone marks tens; ten buckets of bitmaps stay cheap.
        const SEQS_MAX: usize = 1000;
        if !(1..=SEQS_MAX).contains(&self.seqs.len()) {
            return Err(Problem::new(Code::InvalidCount, format!("seqs takes 1 to {SEQS_MAX} items")));
        }
        let mut seqs = self.seqs.into_iter().map(Seq::of_message).collect::<Result<Vec<_>, _>>()?;
        seqs.sort_unstable();
        seqs.dedup();
        Ok(seqs)
    }
}

/// Messages to be deleted for the caller.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub struct DeleteBody(SeqsBody);

impl Act for DeleteBody {
    type Answer = DeletedCount;

    async fn command(self, _: &App, caller: &Caller, _: Option<Uuid>) -> Result<Command, Problem> {
        Ok(Command::Delete { uid: caller.uid, seqs: self.0.seqs()? })
    }

    async fn answer(_: &App, _: &Caller, _: &ConvId, reply: Reply) -> Result<DeletedCount, Problem> {
        let Reply::Deleted(deleted) = reply else {
            return Err(Problem::bug("a deletion was answered with something else"));
        };
        Ok(DeletedCount { deleted })
    }
}

/// To a deletion.
#[derive(Debug, Serialize, ToSchema)]
pub struct DeletedCount {
    /// How many of them are deleted now.
    deleted: u64,
}

/// Deletes messages for the caller only, on all of the caller's devices.
#[utoipa::path(
    post, path = "/v1/conversations/{conv_id}/messages/delete", tag = "messages",
    params(("conv_id" = String, Path)),
    request_body = SeqsBody,
    responses((status = 200, description = "Deleted, now or before", body = DeletedCount), CommandProblems),
)]
pub async fn delete(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(conv): Path<ConvId>,
    Body(body): Body<SeqsBody>,
) -> Result<Json<DeletedCount>, Problem> {
    act(&app, &caller, &conv, None, DeleteBody(body)).await.map(Json)
}

/// Messages to be there again.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub struct RestoreBody(SeqsBody);

impl Act for RestoreBody {
    type Answer = RestoredCount;

    async fn command(self, _: &App, caller: &Caller, _: Option<Uuid>) -> Result<Command, Problem> {
        Ok(Command::Restore { uid: caller.uid, seqs: self.0.seqs()? })
    }

    async fn answer(_: &App, _: &Caller, _: &ConvId, reply: Reply) -> Result<RestoredCount, Problem> {
        let Reply::Restored(restored) = reply else {
            return Err(Problem::bug("a restoration was answered with something else"));
        };
        Ok(RestoredCount { restored })
    }
}

/// To a restoration.
#[derive(Debug, Serialize, ToSchema)]
pub struct RestoredCount {
    /// How many of them are not deleted now.
    restored: u64,
}

/// Undoes a deletion.
#[utoipa::path(
    post, path = "/v1/conversations/{conv_id}/messages/restore", tag = "messages",
    params(("conv_id" = String, Path)),
    request_body = SeqsBody,
    responses((status = 200, description = "There again, now or before", body = RestoredCount), CommandProblems),
)]
pub async fn restore(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(conv): Path<ConvId>,
    Body(body): Body<SeqsBody>,
) -> Result<Json<RestoredCount>, Problem> {
    act(&app, &caller, &conv, None, RestoreBody(body)).await.map(Json)
}
