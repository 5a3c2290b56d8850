//! What a device has missed since it was here.

use std::sync::Arc;

use axum::{Json, extract::State};
use domain::{Seq, Uid};
use projections::{
    query::PageLimit,
    sync::{Changes, Here, MemberChange, SyncEntry, SyncFrom, SyncPage},
};
use serde::Serialize;
use utoipa::ToSchema;

use super::{
    answers::{ConversationAnswer, ReadPositionAnswer},
    lists::ListParams,
};
use crate::{
    app::App,
    auth::Caller,
    door::{Params, page_limit},
    openapi::ListProblems,
    problem::Problem,
    sync_cursor::{Opened, Paging, SyncCursor},
};

/// A page of what was missed.
#[derive(Debug, Serialize, ToSchema)]
pub struct SyncAnswer {
    /// For the next page, or, after the last one, for the next sync.
    cursor: String,
    /// Is there another page?
    has_more: bool,
    /// The cursor was of another log, or from before a restore: this is everything from the start, and what the
    /// device has is to be thrown away first. Only on the first page.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    reset: bool,
    /// Newest activity first on each page; ended ones last.
    conversations: Vec<SyncedAnswer>,
}

/// One conversation.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum SyncedAnswer {
    /// Left, or removed from.
    Left(LeftAnswer),
    /// As it is now.
    Here(Box<HereAnswer>),
}

/// A conversation that the person is not in any more.
#[derive(Debug, Serialize, ToSchema)]
pub struct LeftAnswer {
    conv_id: String,
    /// Always true.
    left: bool,
}

/// A conversation as in the list, and what has changed since the cursor.
#[derive(Debug, Serialize, ToSchema)]
pub struct HereAnswer {
    #[serde(flatten)]
    conversation: ConversationAnswer,
    /// The caller took it out of their list, until the next message.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    hidden: bool,
    /// Missing in a sync without a cursor, in which everything is new.
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<ChangesAnswer>,
}

/// What has changed beside new messages and the conversation's own numbers. Each list says how things are now; at
/// most 500 items each.
#[derive(Debug, Serialize, ToSchema)]
pub struct ChangesAnswer {
    /// Taken back: blank them.
    recalled: Vec<u64>,
    /// Deleted by the caller on another device.
    deleted: Vec<u64>,
    /// Not deleted any more: fetch them again.
    restored: Vec<u64>,
    /// Their bodies are gone.
    expired: Vec<u64>,
    /// How far others have read: in single chats and groups of up to 50.
    read_positions: Vec<ReadPositionAnswer>,
    /// Who came, went or changed.
    members: Vec<MemberChangeAnswer>,
    /// There was more: fetch anew what the device shows of this conversation.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
}

/// A member of a group as they are now, or one who left.
#[derive(Debug, Serialize, ToSchema)]
pub struct MemberChangeAnswer {
    uid: u64,
    /// owner, admin or member; missing once they left.
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    /// The head when they joined.
    #[serde(skip_serializing_if = "Option::is_none")]
    joined_seq: Option<u64>,
    /// Not in it any more.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    left: bool,
}

/// What the caller has missed since the cursor; without one, all conversations.
#[utoipa::path(
    get, path = "/v1/sync", tag = "sync",
    params(ListParams),
    responses((status = 200, description = "A page of it", body = SyncAnswer), ListProblems),
)]
pub async fn sync(
    State(app): State<Arc<App>>,
    caller: Caller,
    Params(params): Params<ListParams>,
) -> Result<Json<SyncAnswer>, Problem> {
    missed(&app, caller.uid, params.cursor.as_deref(), page_limit(params.limit)?).await.map(Json)
}

/// For every door: REST and WebSocket.
pub async fn missed(
    app: &App,
    viewer: Uid,
    cursor: Option<&str>,
    limit: PageLimit,
) -> Result<SyncAnswer, Problem> {
    let opened = cursor.map(|cursor| app.sync_cursors.open(viewer, cursor)).transpose()?;
    let elsewhere = opened == Some(Opened::Elsewhere);
    let from = match opened {
        None | Some(Opened::Elsewhere) => SyncFrom::default(),
        Some(Opened::Here(SyncCursor { at, paging: None })) => SyncFrom { since: Some(at), page: None },
        Some(Opened::Here(SyncCursor { at, paging: Some(Paging { since, after }) })) => {
            SyncFrom { since, page: Some((at, after)) }
        }
    };
    let SyncPage { at, since, next, reset, entries } = app.read_models.sync(viewer, from, limit).await?;
    let has_more = next.is_some();
    let paging = next.map(|after| Paging { since, after });
    Ok(SyncAnswer {
        cursor: app.sync_cursors.give(viewer, &SyncCursor { at, paging }),
        has_more,
        reset: reset || elsewhere,
        conversations: entries.into_iter().map(|entry| SyncedAnswer::new(entry, viewer)).collect(),
    })
}

impl SyncedAnswer {
    fn new(entry: SyncEntry, viewer: Uid) -> Self {
        match entry {
            SyncEntry::Left(conv) => Self::Left(LeftAnswer { conv_id: conv.to_string(), left: true }),
            SyncEntry::Here(here) => {
                let Here { summary, hidden, changes } = *here;
                let conversation = ConversationAnswer::new(summary, viewer);
                Self::Here(Box::new(HereAnswer { conversation, hidden, changes: changes.map(Into::into) }))
            }
        }
    }
}

impl From<Changes> for ChangesAnswer {
    fn from(it: Changes) -> Self {
        let numbers = |seqs: Vec<Seq>| seqs.into_iter().map(Seq::get).collect();
        Self {
            recalled: numbers(it.recalled),
            deleted: numbers(it.deleted),
            restored: numbers(it.restored),
            expired: numbers(it.expired),
            read_positions: it.read_positions.into_iter().map(Into::into).collect(),
            members: it.members.into_iter().map(Into::into).collect(),
            truncated: it.truncated,
        }
    }
}

impl From<MemberChange> for MemberChangeAnswer {
    fn from(it: MemberChange) -> Self {
        Self {
            uid: it.uid.get(),
            role: it.now.map(|(role, _)| role.name()),
            joined_seq: it.now.map(|(_, seq)| seq.get()),
            left: it.now.is_none(),
        }
    }
}
