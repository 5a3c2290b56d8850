//! Founding groups, bringing people in, removing them.

use std::sync::Arc;

use axum::{Json, extract::State, http::StatusCode};
use domain::{Command, ConvId, GroupName, GroupSlug, History, Rejection, Reply, Uid, event_id::group_of_key};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::{
    answers::MemberAnswer,
    lists::{ListParams, uids},
};
use crate::{
    app::App,
    auth::Caller,
    cursor::List,
    door::{Body, Group, IdempotencyKey, Params, Path, page_limit},
    entropy::uuid_v7,
    openapi::{CreateGroupProblems, MembersProblems, QueryProblems, RemoveMemberProblems},
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
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum HistoryName {
    /// Everything.
    All,
    /// From the message after joining.
    Joined,
}

impl GroupBody {
    /// Checks everything. The group's id is the client's, or follows from its key, or is new.
    fn command(self, app: &App, owner: Uid, key: Option<Uuid>) -> Result<(ConvId, Command), Problem> {
        let conv = match (&self.group_id, key) {
            (Some(text), _) => named(text)?,
            (None, Some(key)) => of_uuid(group_of_key(owner, key))?,
            (None, None) => of_uuid(uuid_v7(app.clock.now(), &*app.entropy))?,
        };
        let name = GroupName::parse(&self.name).map_err(|error| Problem::new(Code::InvalidName, error))?;
        let limit = app.limits.group_members;
        let mut members = people("members", 0, limit, self.members)?;
        members.retain(|uid| *uid != owner);
        let history = match self.history {
            Some(HistoryName::All) => History::All,
            Some(HistoryName::Joined) | None => History::Joined,
        };
        Ok((conv, Command::CreateGroup { owner, name, members, history, limit }))
    }
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

/// People for a group that has at most `limit`: more than that would not fit whoever is in it.
fn people(name: &str, least: usize, limit: u32, numbers: Vec<u64>) -> Result<Vec<Uid>, Problem> {
    if numbers.len() > limit as usize {
        return Err(Rejection::GroupFull { limit }.into());
    }
    uids(name, least..=limit as usize, numbers)
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
    let (conv, command) = body.command(&app, caller.uid, key)?;
    let Reply::Created { duplicate } = app.commands.handle(conv.clone(), caller.request(command)).await?
    else {
        return Err(Problem::bug("a foundation was answered with something else"));
    };
    let status = if duplicate { StatusCode::OK } else { StatusCode::CREATED };
    Ok((status, Json(CreatedGroup { conv_id: conv.to_string(), duplicate })))
}

/// Members of a group.
#[derive(Debug, Serialize, ToSchema)]
pub struct Members {
    /// Ascending by uid.
    members: Vec<MemberAnswer>,
    /// Asks for the next page, where there may be one.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
}

/// Who is in a group.
#[utoipa::path(
    get, path = "/v1/groups/{conv_id}/members", tag = "groups",
    params(("conv_id" = String, Path), ListParams),
    responses((status = 200, description = "A page of them", body = Members), QueryProblems),
)]
pub async fn members(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(Group(conv)): Path<Group>,
    Params(params): Params<ListParams>,
) -> Result<Json<Members>, Problem> {
    let (list, limit) = (List::Members(conv.clone()), page_limit(params.limit)?);
    let after = app.cursors.uid(&list, caller.uid, params.cursor.as_deref())?;
    let members = app.read_models.members(&conv, caller.uid, after, limit).await?;
    let full = members.len() == limit.get() as usize;
    let last = members.last().filter(|_| full).map(|it| it.uid);
    let cursor = last.map(|last| app.cursors.after_uid(&list, caller.uid, last));
    Ok(Json(Members { members: members.into_iter().map(Into::into).collect(), cursor }))
}

/// People to be brought in.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UidsBody {
    /// At least one.
    uids: Vec<u64>,
}

/// To an addition.
#[derive(Debug, Serialize, ToSchema)]
pub struct AddedMembers {
    conv_id: String,
    /// Who of them came in just now; the others were in already.
    added: Vec<u64>,
}

/// Brings people into a group.
#[utoipa::path(
    post, path = "/v1/groups/{conv_id}/members", tag = "groups",
    params(("conv_id" = String, Path)),
    request_body = UidsBody,
    responses((status = 200, description = "All of them are in", body = AddedMembers), MembersProblems),
)]
pub async fn add(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(Group(conv)): Path<Group>,
    Body(body): Body<UidsBody>,
) -> Result<Json<AddedMembers>, Problem> {
    let limit = app.limits.group_members;
    let command = Command::AddMembers { by: caller.uid, uids: people("uids", 1, limit, body.uids)?, limit };
    let Reply::Added(added) = app.commands.handle(conv.clone(), caller.request(command)).await? else {
        return Err(Problem::bug("an addition was answered with something else"));
    };
    Ok(Json(AddedMembers { conv_id: conv.to_string(), added: added.into_iter().map(Uid::get).collect() }))
}

/// To a removal.
#[derive(Debug, Serialize, ToSchema)]
pub struct RemovedMember {
    conv_id: String,
    /// Who is not in any more.
    uid: u64,
}

/// Removes somebody from a group; oneself: leaves it.
#[utoipa::path(
    delete, path = "/v1/groups/{conv_id}/members/{uid}", tag = "groups",
    params(("conv_id" = String, Path), ("uid" = u64, Path)),
    responses((status = 200, description = "Out, now or before", body = RemovedMember), RemoveMemberProblems),
)]
pub async fn remove(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(Group(conv)): Path<Group>,
    Path(uid): Path<Uid>,
) -> Result<Json<RemovedMember>, Problem> {
    let command = Command::RemoveMember { by: caller.uid, uid };
    app.commands.handle(conv.clone(), caller.request(command)).await?;
    Ok(Json(RemovedMember { conv_id: conv.to_string(), uid: uid.get() }))
}
