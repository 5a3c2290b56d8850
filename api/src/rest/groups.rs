//! Founding groups, changing and ending them.

use std::sync::Arc;

use axum::{Json, extract::State, http::StatusCode};
use domain::{
    Command, ConvId, GroupChange, GroupName, GroupSlug, History, Invite, Reply, Stamp, Uid,
    event_id::group_of_key,
};
use projections::query::GroupRow;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::members::people;
use crate::{
    app::App,
    auth::Caller,
    door::{Body, Group, IdempotencyKey, Path},
    entropy::uuid_v7,
    openapi::{ChangeGroupProblems, CreateGroupProblems, DissolveProblems, QueryProblems},
    problem::{Code, Problem},
};

/// A group to be founded.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct GroupBody {
    /// `grp-<slug>` or the slug alone; by it a repeat is recognised. Where it is left out, the server makes one.
    group_id: Option<String>,
    /// 1 to 128 characters, none of them a control character.
    name: String,
    /// Who else is in it.
    #[serde(default)]
    members: Vec<u64>,
    /// `joined` (default): members see from the message after they joined. `all`: everything.
    history: Option<HistoryName>,
}

/// What members see.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum HistoryName {
    /// Everything.
    All,
    /// From the message after joining.
    Joined,
}

/// Who may bring people in.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum InviteName {
    /// The owner and the admins.
    Admins,
    /// Every member.
    Members,
}

impl From<HistoryName> for History {
    fn from(name: HistoryName) -> Self {
        match name {
            HistoryName::All => Self::All,
            HistoryName::Joined => Self::Joined,
        }
    }
}

impl From<InviteName> for Invite {
    fn from(name: InviteName) -> Self {
        match name {
            InviteName::Admins => Self::Admins,
            InviteName::Members => Self::Members,
        }
    }
}

impl GroupBody {
    /// Checks everything. The group's id is the client's, or follows from its key, or is new.
    fn command(
        self,
        app: &App,
        owner: Uid,
        key: Option<Uuid>,
        stamp: Stamp,
    ) -> Result<(ConvId, Command), Problem> {
        let conv = match (&self.group_id, key) {
            (Some(text), _) => named(text)?,
            (None, Some(key)) => of_uuid(group_of_key(owner, key))?,
            (None, None) => of_uuid(uuid_v7(app.clock.now(), &*app.entropy))?,
        };
        let name = group_name(&self.name)?;
        let limit = app.limits.group_members;
        let mut members = people("members", 0, limit, self.members)?;
        members.retain(|uid| *uid != owner);
        let history = self.history.unwrap_or(HistoryName::Joined).into();
        Ok((conv, Command::CreateGroup { owner, name, members, history, limit, stamp }))
    }
}

fn group_name(text: &str) -> Result<GroupName, Problem> {
    GroupName::parse(text).map_err(|error| Problem::new(Code::InvalidName, error))
}

fn named(text: &str) -> Result<ConvId, Problem> {
    let invalid = |detail: &str| Problem::new(Code::InvalidGroupId, detail);
    match ConvId::parse(text) {
        Ok(conv) if conv.is_group() => Ok(conv),
        Ok(_) => Err(invalid("a single chat's id is not a group's")),
        Err(_) => GroupSlug::parse(text)
            .map(|slug| ConvId::group(&slug))
            .map_err(|error| invalid(&error.to_string())),
    }
}

fn of_uuid(uuid: Uuid) -> Result<ConvId, Problem> {
    let slug = GroupSlug::parse(&uuid.hyphenated().to_string());
    slug.map(|slug| ConvId::group(&slug)).map_err(|_| Problem::bug("a UUID is not a slug"))
}

/// To a foundation.
#[derive(Debug, Serialize, ToSchema)]
pub struct CreatedGroup {
    conv_id: String,
    /// Was it there already, founded by the same command?
    duplicate: bool,
}

/// Founds a group; the caller is its owner.
#[utoipa::path(
    post, path = "/v1/groups", tag = "groups",
    params(("Idempotency-Key" = Option<String>, Header, description = "A UUID; the same one finds the same group")),
    request_body = GroupBody,
    responses(
        (status = 201, description = "Founded", body = CreatedGroup),
        (status = 200, description = "Founded before, by the same command", body = CreatedGroup),
        CreateGroupProblems,
    ),
)]
pub async fn create(
    State(app): State<Arc<App>>,
    caller: Caller,
    IdempotencyKey(key): IdempotencyKey,
    Body(body): Body<GroupBody>,
) -> Result<(StatusCode, Json<CreatedGroup>), Problem> {
    let (conv, command) = body.command(&app, caller.uid, key, app.stamp().await?)?;
    let Reply::Created { duplicate } = app.command(&caller, &conv, command).await? else {
        return Err(Problem::bug("a foundation was answered with something else"));
    };
    let status = if duplicate { StatusCode::OK } else { StatusCode::CREATED };
    Ok((status, Json(CreatedGroup { conv_id: conv.to_string(), duplicate })))
}

/// A group.
#[derive(Debug, Serialize, ToSchema)]
pub struct GroupAnswer {
    conv_id: String,
    name: String,
    /// `joined`: members see from the message after they joined. `all`: everything.
    history: &'static str,
    /// May only the owner and the admins send?
    mute_all: bool,
    /// Who may bring people in: `admins` (and the owner) or all `members`.
    invite: &'static str,
    /// Is it over? Then it can be read, but nothing is sent and nobody joins.
    dissolved: bool,
    /// Null where the last owner has left.
    owner: Option<u64>,
    /// How many are in it.
    member_count: u64,
    /// What the caller is in it: owner, admin or member.
    role: &'static str,
}

impl GroupAnswer {
    fn new(conv: &ConvId, group: GroupRow) -> Self {
        Self {
            conv_id: conv.to_string(),
            name: group.name,
            history: group.history.name(),
            mute_all: group.mute_all,
            invite: group.invite.name(),
            dissolved: group.dissolved,
            owner: group.owner.map(Uid::get),
            member_count: group.members,
            role: group.role.name(),
        }
    }
}

/// A group, as a member sees it.
#[utoipa::path(
    get, path = "/v1/groups/{conv_id}", tag = "groups",
    params(("conv_id" = String, Path)),
    responses((status = 200, description = "The group", body = GroupAnswer), QueryProblems),
)]
pub async fn one(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(Group(conv)): Path<Group>,
) -> Result<Json<GroupAnswer>, Problem> {
    let group = app.read_models.group(&conv, caller.uid).await?;
    Ok(Json(GroupAnswer::new(&conv, group)))
}

/// What of a group shall be otherwise: at least one field.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct GroupChangeBody {
    /// 1 to 128 characters, none of them a control character. A message of the system tells the group.
    name: Option<String>,
    /// Works backwards, too.
    history: Option<HistoryName>,
    /// May only the owner and the admins send?
    mute_all: Option<bool>,
    /// Who may bring people in.
    invite: Option<InviteName>,
}

/// To a change of a group: what was asked for, as it is now.
#[derive(Debug, Serialize, ToSchema)]
pub struct ChangedGroup {
    conv_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    history: Option<HistoryName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mute_all: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    invite: Option<InviteName>,
}

/// Changes a group's own facts; the owner's right.
#[utoipa::path(
    patch, path = "/v1/groups/{conv_id}", tag = "groups",
    params(("conv_id" = String, Path)),
    request_body = GroupChangeBody,
    responses((status = 200, description = "It is so now", body = ChangedGroup), ChangeGroupProblems),
)]
pub async fn change(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(Group(conv)): Path<Group>,
    Body(GroupChangeBody { name, history, mute_all, invite }): Body<GroupChangeBody>,
) -> Result<Json<ChangedGroup>, Problem> {
    let change = GroupChange {
        name: name.as_deref().map(group_name).transpose()?.map(|name| name.as_str().to_owned()),
        history: history.map(History::from),
        mute_all,
        invite: invite.map(Invite::from),
    };
    if change == GroupChange::default() {
        return Err(Problem::new(Code::InvalidBody, "name, history, mute_all or invite is due"));
    }
    let command = Command::ChangeGroup { by: caller.uid, change, stamp: app.stamp().await? };
    app.command(&caller, &conv, command).await?;
    Ok(Json(ChangedGroup { conv_id: conv.to_string(), name, history, mute_all, invite }))
}

/// To an end of a group.
#[derive(Debug, Serialize, ToSchema)]
pub struct DissolvedGroup {
    conv_id: String,
    /// True.
    dissolved: bool,
}

/// Ends a group; the owner's right. It can be read further on, but nothing is sent and nobody joins.
#[utoipa::path(
    delete, path = "/v1/groups/{conv_id}", tag = "groups",
    params(("conv_id" = String, Path)),
    responses((status = 200, description = "It is over", body = DissolvedGroup), DissolveProblems),
)]
pub async fn dissolve(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(Group(conv)): Path<Group>,
) -> Result<Json<DissolvedGroup>, Problem> {
    let command = Command::DissolveGroup { by: caller.uid, stamp: app.stamp().await? };
    app.command(&caller, &conv, command).await?;
    Ok(Json(DissolvedGroup { conv_id: conv.to_string(), dissolved: true }))
}
