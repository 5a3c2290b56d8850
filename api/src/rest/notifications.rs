//! System notifications: an admin tells one person, many, or everybody; each reads their own inbox.

use std::sync::Arc;

use axum::{Json, extract::State, http::StatusCode};
use domain::{
    Category, Notification, NotificationCommand, NotificationContent, NotificationId, NotificationReply,
    Recipients, ids::Ms,
};
use event_store::NotificationRequest;
use projections::notification::{Bounds, InboxItem};
use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};
use utoipa::ToSchema;

use super::lists::uids;
use crate::{
    app::App,
    auth::Caller,
    door::{Body, IdempotencyKey, Params, page_limit},
    entropy::uuid_v7,
    openapi::{InboxProblems, PostNotificationProblems, ReadNotificationsProblems},
    problem::{Code, Problem},
};

/// Something to be told.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NotificationBody {
    /// `"all"`, or 1 to 10,000 uids.
    to: To,
    /// 1 to 64 of a-z, 0-9, _, - and `.`: the app may draw, group or silence by it.
    category: String,
    /// A string or an object of the app's making, at most 64 KiB by default.
    content: Value,
}

/// Whom it is for.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum To {
    /// Everybody, also those who come later.
    All(All),
    /// These people.
    People(Vec<u64>),
}

/// The word for everybody.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum All {
    /// "all"
    All,
}

impl NotificationBody {
    fn checked(self, content_bytes_max: usize) -> Result<Notification, Problem> {
        let to = match self.to {
            To::All(All::All) => Recipients::All,
            To::People(numbers) => Recipients::people(uids("to", 1..=Recipients::PEOPLE_MAX, numbers)?)?,
        };
        let category = Category::parse(&self.category)?;
        let content = NotificationContent::parse(&self.content, content_bytes_max)?;
        Ok(Notification { to, category, content })
    }
}

/// Told.
#[derive(Debug, Serialize, ToSchema)]
pub struct NotificationSent {
    /// Its number: the version of the stream of notifications.
    id: u64,
    /// When it was told.
    create_at: Ms,
    /// Was it there already?
    duplicate: bool,
}

/// Tells one person, many, or everybody. To everybody is one write, whatever the number of people.
#[utoipa::path(
    post, path = "/v1/notifications", tag = "notifications",
    params(
        ("Idempotency-Key" = Option<String>, Header, description = "A UUID; a repeat gets the first answer"),
    ),
    request_body = NotificationBody,
    responses(
        (status = 201, description = "Told", body = NotificationSent),
        (status = 200, description = "Told before, with this key", body = NotificationSent),
        PostNotificationProblems
    ),
)]
pub async fn post(
    State(app): State<Arc<App>>,
    caller: Caller,
    IdempotencyKey(key): IdempotencyKey,
    Body(body): Body<NotificationBody>,
) -> Result<(StatusCode, Json<NotificationSent>), Problem> {
    if !caller.roles.admin {
        return Err(Problem::new(Code::NotAllowed, "the role admin tells notifications"));
    }
    let notification = body.checked(app.limits.content_bytes)?;
    let at = app.clock.now();
    // Without a key each is new.
    let key = key.unwrap_or_else(|| uuid_v7(at, &*app.entropy));
    let command = NotificationCommand::Post { notification, by: caller.uid, at, key };
    let NotificationReply::Posted { id, at, duplicate } =
        app.notifications.handle(request(caller, command)).await?
    else {
        return Err(Problem::bug("a notification was answered with something else"));
    };
    let status = if duplicate { StatusCode::OK } else { StatusCode::CREATED };
    Ok((status, Json(NotificationSent { id: id.get(), create_at: at, duplicate })))
}

fn request(caller: Caller, command: NotificationCommand) -> NotificationRequest {
    NotificationRequest { command, device: caller.device, correlation_id: caller.correlation_id }
}

/// Which part of an inbox.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct InboxParams {
    /// Only what is above it: the oldest of those. Without it the newest.
    after_id: Option<u64>,
    /// Only what is below it.
    before_id: Option<u64>,
    /// 1..=200, 50 by default.
    limit: Option<u32>,
}

/// A page of an inbox.
#[derive(Debug, Serialize, ToSchema)]
pub struct InboxAnswer {
    /// Ascending by id; ids of what is for others are missing.
    items: Vec<InboxItemAnswer>,
    /// Is there more, further in the direction of the paging?
    has_more: bool,
    /// The newest that is for the caller; 0 where there is none.
    max_id: u64,
    /// How far the caller has read.
    read_id: u64,
    /// How many that are for the caller lie above read_id.
    unread: u64,
}

/// One notification.
#[derive(Debug, Serialize, ToSchema)]
pub struct InboxItemAnswer {
    /// Its number.
    id: u64,
    /// What it is about.
    category: String,
    /// As it was told.
    #[schema(value_type = Value)]
    content: Box<RawValue>,
    /// When it was told.
    create_at: Ms,
}

impl InboxItemAnswer {
    fn new(item: InboxItem) -> Result<Self, Problem> {
        let content = RawValue::from_string(item.content)
            .map_err(|_| Problem::bug("the content of a notification is not JSON"))?;
        Ok(Self { id: item.id.get(), category: item.category, content, create_at: item.at })
    }
}

/// The caller's notifications: those for them and those for everybody.
#[utoipa::path(
    get, path = "/v1/notifications", tag = "notifications",
    params(InboxParams),
    responses((status = 200, description = "A page", body = InboxAnswer), InboxProblems),
)]
pub async fn page(
    State(app): State<Arc<App>>,
    caller: Caller,
    Params(params): Params<InboxParams>,
) -> Result<Json<InboxAnswer>, Problem> {
    let limit = page_limit(params.limit)?;
    let bounds = Bounds { after: bound(params.after_id)?, before: bound(params.before_id)? };
    let inbox = app.inboxes.page(caller.uid, bounds, limit).await?;
    Ok(Json(InboxAnswer {
        items: inbox.items.into_iter().map(InboxItemAnswer::new).collect::<Result<_, _>>()?,
        has_more: inbox.has_more,
        max_id: inbox.standing.max_id.get(),
        read_id: inbox.standing.read_id.get(),
        unread: inbox.standing.unread,
    }))
}

fn bound(id: Option<u64>) -> Result<Option<NotificationId>, Problem> {
    match id {
        Some(id) if id > NotificationId::MAX => {
            Err(Problem::new(Code::InvalidParameter, "an id is an integer up to 9007199254740991"))
        }
        id => Ok(id.map(NotificationId::new)),
    }
}

/// A watermark.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadNotificationsBody {
    /// Everything up to and with this one has been read.
    read_id: u64,
}

/// To a watermark.
#[derive(Debug, Serialize, ToSchema)]
pub struct ReadNotificationsState {
    /// The watermark that stands.
    read_id: u64,
    /// What is unread now.
    unread: u64,
}

/// Moves the caller's watermark up; a lower one is answered with the watermark that stands.
#[utoipa::path(
    put, path = "/v1/notifications/read", tag = "notifications",
    request_body = ReadNotificationsBody,
    responses(
        (status = 200, description = "The watermark that stands", body = ReadNotificationsState),
        ReadNotificationsProblems
    ),
)]
pub async fn read(
    State(app): State<Arc<App>>,
    caller: Caller,
    Body(body): Body<ReadNotificationsBody>,
) -> Result<Json<ReadNotificationsState>, Problem> {
    let (uid, at) = (caller.uid, app.clock.now());
    let command = NotificationCommand::Read { uid, read_id: NotificationId::new(body.read_id), at };
    app.notifications.handle(request(caller, command)).await?;
    let standing = app.inboxes.standing(uid).await?;
    Ok(Json(ReadNotificationsState { read_id: standing.read_id.get(), unread: standing.unread }))
}
