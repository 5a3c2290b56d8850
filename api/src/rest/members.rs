//! Who is in a group: listing, bringing in, removing, roles.

use std::sync::Arc;

use axum::{Json, extract::State};
use domain::{Command, Rejection, Reply, Role, Uid};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    answers::MemberAnswer,
    lists::{ListParams, uids},
};
use crate::{
    app::App,
    auth::Caller,
    cursor::List,
    door::{Body, Group, Params, Path, page_limit},
    openapi::{MembersProblems, QueryProblems, RemoveMemberProblems, RoleProblems},
    problem::Problem,
};

/// People for a group that has at most `limit`: more than that would not fit whoever is in it.
pub(super) fn people(name: &str, least: usize, limit: u32, numbers: Vec<u64>) -> Result<Vec<Uid>, Problem> {
    if numbers.len() > limit as usize {
        return Err(Rejection::GroupFull { limit }.into());
    }
    uids(name, least..=limit as usize, numbers)
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
pub async fn list(
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
    let (by, uids) = (caller.uid, people("uids", 1, limit, body.uids)?);
    let command = Command::AddMembers { by, uids, limit, stamp: app.stamp().await? };
    let Reply::Added(added) = app.command(&caller, &conv, command).await? else {
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
    let command = Command::RemoveMember { by: caller.uid, uid, stamp: app.stamp().await? };
    app.command(&caller, &conv, command).await?;
    Ok(Json(RemovedMember { conv_id: conv.to_string(), uid: uid.get() }))
}

/// A role.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RoleBody {
    role: RoleName,
}

/// What a member may do.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum RoleName {
    /// Everything. To give it is to hand over: who had it becomes admin.
    Owner,
    /// Adds and removes members, recalls their messages, sends in a muted group.
    Admin,
    /// Sends and leaves; brings people in, where the group lets its members.
    Member,
}

impl From<RoleName> for Role {
    fn from(name: RoleName) -> Self {
        match name {
            RoleName::Owner => Self::Owner,
            RoleName::Admin => Self::Admin,
            RoleName::Member => Self::Member,
        }
    }
}

/// To a role.
#[derive(Debug, Serialize, ToSchema)]
pub struct MemberRole {
    conv_id: String,
    uid: u64,
    role: RoleName,
}

/// Gives a member another role; the owner's right.
#[utoipa::path(
    put, path = "/v1/groups/{conv_id}/members/{uid}/role", tag = "groups",
    params(("conv_id" = String, Path), ("uid" = u64, Path)),
    request_body = RoleBody,
    responses((status = 200, description = "The role that stands", body = MemberRole), RoleProblems),
)]
pub async fn set_role(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(Group(conv)): Path<Group>,
    Path(uid): Path<Uid>,
    Body(RoleBody { role }): Body<RoleBody>,
) -> Result<Json<MemberRole>, Problem> {
    let command = Command::SetRole { by: caller.uid, uid, role: role.into() };
    app.command(&caller, &conv, command).await?;
    Ok(Json(MemberRole { conv_id: conv.to_string(), uid: uid.get(), role }))
}
