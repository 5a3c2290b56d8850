//! Which error has which status: RFC 9457 answers. The one file of `api/` in which the status codes of errors live.
//!
//! A refusal (4xx), a conflict (409) and a breakdown (503) are three different things. Nothing in here shows SQL,
//! a path or another person's data: details come from the errors' own words, sources only go to the log. Long because
//! every code of the product is in it.

use axum::{
    body::Body,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use domain::{ContentError, ConvIdError, IdError, NotificationError, Rejection, snowflake::LeaseOver};
use event_store::{CommandError, StoreError};
use projections::{generations::GenerationError, query::QueryError};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{auth::TokenError, presence::PresenceError};

/// The media type of every error.
pub const MEDIA_TYPE: &str = "application/problem+json";

/// When to come back, in seconds: a full queue is worked off, and a database restarted, within moments.
const RETRY_AFTER_S: u32 = 1;

/// The longest detail, in characters: enough for a sentence, not for echoing what was sent.
const DETAIL_CHARS_MAX: usize = 300;

/// What went wrong, as a client's program may tell it apart. Codes are never renamed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each has its sentence in `row`")]
pub enum Code {
    MalformedJson,
    InvalidParameter,
    InvalidConvId,
    InvalidCursor,
    InvalidIdempotencyKey,
    Unauthorized,
    NotAMember,
    NotAllowed,
    NotSender,
    Muted,
    NotFound,
    ConversationNotFound,
    MessageNotFound,
    MemberNotFound,
    SwitchedOff,
    UnknownProjection,
    MethodNotAllowed,
    RequestTimeout,
    RequestIdInFlight,
    IdempotencyConflict,
    RecallWindowPassed,
    GroupExists,
    OwnerStays,
    GroupDissolved,
    RebuildRunning,
    GenerationLeft,
    NoOtherGeneration,
    LegalHold,
    HoldNotFound,
    ErasureNotFound,
    InvalidReason,
    ContentTooLarge,
    UnsupportedMediaType,
    InvalidBody,
    UnknownOp,
    InvalidContent,
    InvalidUid,
    InvalidSeq,
    InvalidClientMsgId,
    InvalidCount,
    InvalidGroupId,
    InvalidName,
    NotAGroup,
    InvalidCategory,
    ReadSeqBeyondHead,
    ReadIdBeyondHead,
    UpToSeqBeyondHead,
    GroupFull,
    CommandRefused,
    UpgradeRequired,
    TooManyRequests,
    Internal,
    Unavailable,
}

impl Code {
    /// Status, code and title.
    const fn row(self) -> (u16, &'static str, &'static str) {
        match self {
            Self::MalformedJson => (400, "malformed_json", "The body is not JSON in UTF-8"),
            Self::InvalidParameter => (400, "invalid_parameter", "A query parameter is unknown or malformed"),
            Self::InvalidConvId => (400, "invalid_conv_id", "This is not a conv_id"),
            Self::InvalidCursor => (400, "invalid_cursor", "This cursor was not given out here"),
            Self::InvalidIdempotencyKey => (400, "invalid_idempotency_key", "An Idempotency-Key is one UUID"),
            Self::Unauthorized => (401, "unauthorized", "A valid bearer token is needed"),
            Self::NotAMember => (403, "not_a_member", "You are not a member of this conversation"),
            Self::NotAllowed => (403, "not_allowed", "You have not the right to do this"),
            Self::NotSender => (403, "not_sender", "This is not your message"),
            Self::Muted => (403, "muted", "Only the owner and the admins may send at present"),
            Self::NotFound => (404, "not_found", "There is nothing at this address"),
            Self::ConversationNotFound => (404, "conversation_not_found", "There is no such conversation"),
            Self::MessageNotFound => (404, "message_not_found", "There is no such message"),
            Self::MemberNotFound => (404, "member_not_found", "There is no such member"),
            Self::SwitchedOff => (404, "switched_off", "This server does not do this"),
            Self::UnknownProjection => (404, "unknown_projection", "There are no read models of this name"),
            Self::MethodNotAllowed => (405, "method_not_allowed", "This address does not take this method"),
            Self::RequestTimeout => (408, "request_timeout", "The body did not arrive in time"),
            Self::RequestIdInFlight => {
                (409, "request_id_in_flight", "A request with this id has not been answered yet")
            }
            Self::IdempotencyConflict => (409, "idempotency_conflict", "This id was used for something else"),
            Self::RecallWindowPassed => {
                (409, "recall_window_passed", "It is too late to recall this message")
            }
            Self::GroupExists => (409, "group_exists", "This group's id is taken"),
            Self::OwnerStays => (409, "owner_stays", "The owner hands over first"),
            Self::GroupDissolved => (409, "group_dissolved", "This group was dissolved"),
            Self::RebuildRunning => {
                (409, "rebuild_running", "These read models are being rebuilt, rolled back or dropped")
            }
            Self::GenerationLeft => {
                (409, "generation_left", "An earlier generation has not been dropped yet")
            }
            Self::NoOtherGeneration => {
                (409, "no_other_generation", "There is no whole generation but the one that serves")
            }
            Self::LegalHold => (409, "legal_hold", "A legal hold stands"),
            Self::ErasureNotFound => (404, "erasure_not_found", "Nobody has asked for this erasure"),
            Self::HoldNotFound => (404, "hold_not_found", "No legal hold stands here"),
            Self::InvalidReason => (422, "invalid_reason", "This is not a reason"),
            Self::ContentTooLarge => (413, "content_too_large", "This is too large"),
            Self::UnsupportedMediaType => {
                (415, "unsupported_media_type", "The body must be application/json")
            }
            Self::InvalidBody => (422, "invalid_body", "The body is JSON of another shape"),
            Self::UnknownOp => (422, "unknown_op", "There is no such op"),
            Self::InvalidContent => (422, "invalid_content", "The content does not fit"),
            Self::InvalidUid => (422, "invalid_uid", "This is not a uid"),
            Self::InvalidSeq => (422, "invalid_seq", "This is not a seq"),
            Self::InvalidClientMsgId => (422, "invalid_client_msg_id", "This is not a client_msg_id"),
            Self::InvalidCount => (422, "invalid_count", "There are too few or too many items"),
            Self::InvalidGroupId => (422, "invalid_group_id", "This is not a group's id"),
            Self::InvalidName => (422, "invalid_name", "This is not a group's name"),
            Self::NotAGroup => (422, "not_a_group", "This conversation is not a group"),
            Self::InvalidCategory => (422, "invalid_category", "This is not a category of notifications"),
            Self::ReadIdBeyondHead => {
                (422, "read_id_beyond_head", "There is no notification yet at this read_id")
            }
            Self::ReadSeqBeyondHead => {
                (422, "read_seq_beyond_head", "There is no message yet at this read_seq")
            }
            Self::UpToSeqBeyondHead => {
                (422, "up_to_seq_beyond_head", "There is no message yet at this up_to_seq")
            }
            Self::GroupFull => (422, "group_full", "The group has no room"),
            Self::CommandRefused => (422, "command_refused", "The log will not take this"),
            Self::UpgradeRequired => (426, "upgrade_required", "This address speaks WebSocket"),
            Self::TooManyRequests => (429, "too_many_requests", "Too much at once"),
            Self::Internal => (500, "internal", "This is a bug of the server"),
            Self::Unavailable => (503, "unavailable", "The server cannot answer at this moment"),
        }
    }

    /// The HTTP status.
    pub fn status(self) -> StatusCode {
        StatusCode::from_u16(self.row().0).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// The stable name.
    pub const fn name(self) -> &'static str {
        self.row().1
    }

    /// One sentence for people.
    pub const fn title(self) -> &'static str {
        self.row().2
    }

    /// Is it worth asking again? In so many seconds, if nobody knows better.
    const fn retry_after_s(self) -> Option<u32> {
        match self {
            Self::TooManyRequests | Self::Unavailable => Some(RETRY_AFTER_S),
            _ => None,
        }
    }
}

/// An error as it is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// What went wrong.
    pub code: Code,
    /// What exactly, for people.
    pub detail: String,
    /// When it is worth asking again, in seconds.
    pub retry_after_s: Option<u32>,
}

/// The JSON of a problem.
#[derive(Debug, Serialize, ToSchema)]
pub struct ProblemBody {
    /// `urn:quipu:problem:` and the code.
    #[serde(rename = "type")]
    kind: String,
    /// The code in words.
    title: &'static str,
    /// The HTTP status again.
    status: u16,
    /// Stable, for programs.
    code: &'static str,
    /// What exactly went wrong, for people.
    detail: String,
}

impl Problem {
    /// A code and what exactly; cut where it is long.
    pub fn new(code: Code, detail: impl ToString) -> Self {
        let detail = detail.to_string().chars().take(DETAIL_CHARS_MAX).collect();
        Self { code, detail, retry_after_s: code.retry_after_s() }
    }

    /// Something that cannot be, but was. Goes to the log as an error.
    pub fn bug(what: &'static str) -> Self {
        tracing::error!(what, "a bug");
        Self::new(Code::Internal, "the server's log says more")
    }

    /// As it is serialised, in answers and in WebSocket frames.
    pub fn body(&self) -> ProblemBody {
        let (status, code, title) = self.code.row();
        ProblemBody {
            kind: format!("urn:quipu:problem:{code}"),
            title,
            status,
            code,
            detail: self.detail.clone(),
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        // Strings and a number: serialising these into memory cannot fail.
        let json = serde_json::to_vec(&self.body()).unwrap_or_default();
        let mut response = Response::new(Body::from(json));
        *response.status_mut() = self.code.status();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(seconds) = self.retry_after_s {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.code == Code::Unauthorized {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"quipu\""));
        }
        if self.code == Code::UpgradeRequired {
            // RFC 9110, 15.5.22, and RFC 6455, 4.4: to what, and to which version.
            headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
            headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
            headers.insert(header::SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"));
        }
        response
    }
}

impl From<Rejection> for Problem {
    fn from(rejection: Rejection) -> Self {
        let code = match &rejection {
            Rejection::NotAMember => Code::NotAMember,
            Rejection::NotAllowed => Code::NotAllowed,
            Rejection::MessageNotFound(_) => Code::MessageNotFound,
            Rejection::NotSender => Code::NotSender,
            Rejection::RecallWindowPassed { .. } => Code::RecallWindowPassed,
            Rejection::ReadBeyondHead { .. } => Code::ReadSeqBeyondHead,
            Rejection::NotificationBeyondHead { .. } => Code::ReadIdBeyondHead,
            Rejection::ClearBeyondHead { .. } => Code::UpToSeqBeyondHead,
            Rejection::IdempotencyConflict => Code::IdempotencyConflict,
            Rejection::GroupExists => Code::GroupExists,
            Rejection::GroupFull { .. } => Code::GroupFull,
            Rejection::MemberNotFound => Code::MemberNotFound,
            Rejection::OwnerStays => Code::OwnerStays,
            Rejection::Muted => Code::Muted,
            Rejection::GroupDissolved => Code::GroupDissolved,
            Rejection::Held { .. } => Code::LegalHold,
            Rejection::NoConversation => Code::ConversationNotFound,
            Rejection::ExpireBeyondHead { .. } => Code::UpToSeqBeyondHead,
        };
        Self::new(code, rejection)
    }
}

impl From<CommandError> for Problem {
    fn from(error: CommandError) -> Self {
        let code = match error {
            CommandError::Rejected(rejection) => return rejection.into(),
            CommandError::OverLimit(over) => {
                let problem = Self::new(Code::TooManyRequests, over);
                return Self { retry_after_s: Some(over.retry_after_s), ..problem };
            }
            CommandError::Busy => Code::TooManyRequests,
            CommandError::Unavailable => Code::Unavailable,
            CommandError::Refused => Code::CommandRefused,
        };
        Self::new(code, error)
    }
}

impl From<QueryError> for Problem {
    fn from(error: QueryError) -> Self {
        let code = match &error {
            QueryError::NotAMember => Code::NotAMember,
            QueryError::MessageNotFound => Code::MessageNotFound,
            QueryError::Parked | QueryError::Behind => Code::Unavailable,
            QueryError::Unavailable { doing, source } => {
                tracing::warn!(doing, source, "a query failed");
                return Self::new(Code::Unavailable, "the read models are unavailable");
            }
        };
        Self::new(code, error)
    }
}

impl From<GenerationError> for Problem {
    fn from(error: GenerationError) -> Self {
        let code = match &error {
            GenerationError::Running(_) => Code::RebuildRunning,
            GenerationError::Left(_) => Code::GenerationLeft,
            GenerationError::Alone(_) | GenerationError::Unfinished(_) => Code::NoOtherGeneration,
            GenerationError::Full(..) => Code::Unavailable,
            GenerationError::TooSlow(_)
            | GenerationError::Stopped(_)
            | GenerationError::Log(_)
            | GenerationError::Open(_)
            | GenerationError::Connect(_)
            | GenerationError::Build(_)
            | GenerationError::Database { .. } => {
                tracing::warn!(error = &error as &dyn std::error::Error, "generations are not to be had");
                return Self::new(Code::Unavailable, "the read models are unavailable");
            }
        };
        Self::new(code, error)
    }
}

impl From<NotificationError> for Problem {
    fn from(error: NotificationError) -> Self {
        let code = match error {
            NotificationError::Recipients => Code::InvalidCount,
            NotificationError::Category => Code::InvalidCategory,
            NotificationError::TooLarge { .. } => Code::ContentTooLarge,
            NotificationError::Shape | NotificationError::Nul => Code::InvalidContent,
        };
        Self::new(code, error)
    }
}

impl From<PresenceError> for Problem {
    fn from(error: PresenceError) -> Self {
        tracing::warn!(error = &error as &dyn std::error::Error, "a query failed");
        Self::new(Code::Unavailable, "who is online is unknown for the moment")
    }
}

impl From<ContentError> for Problem {
    fn from(error: ContentError) -> Self {
        let code = match &error {
            ContentError::TooLarge { .. } => Code::ContentTooLarge,
            ContentError::MsgType
            | ContentError::Empty
            | ContentError::Nul
            | ContentError::Shape { .. }
            | ContentError::Url
            | ContentError::Missing => Code::InvalidContent,
        };
        Self::new(code, error)
    }
}

impl From<IdError> for Problem {
    fn from(error: IdError) -> Self {
        let code = match error {
            IdError::Uid => Code::InvalidUid,
            IdError::Seq => Code::InvalidSeq,
            IdError::ClientMsgId => Code::InvalidClientMsgId,
        };
        Self::new(code, error)
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        tracing::warn!(error = &error as &dyn std::error::Error, "the log was not read");
        Self::new(Code::Unavailable, "the log is unavailable")
    }
}

impl From<ConvIdError> for Problem {
    fn from(error: ConvIdError) -> Self {
        Self::new(Code::InvalidConvId, error)
    }
}

impl From<TokenError> for Problem {
    fn from(error: TokenError) -> Self {
        Self::new(Code::Unauthorized, error)
    }
}

impl From<LeaseOver> for Problem {
    fn from(error: LeaseOver) -> Self {
        tracing::warn!("no message ids: the instance number's lease has run out");
        Self::new(Code::Unavailable, error)
    }
}

#[cfg(test)]
mod tests;
