//! For operators: how the read models stand, and what one does with their generations.

use std::sync::Arc;

use axum::{Json, extract::State, http::StatusCode};
use domain::Ms;
use projections::{
    Projection, Rates,
    generations::{GenerationStatus, State as Standing},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    app::App,
    auth::Caller,
    door::{InPath, Params, Path},
    openapi::{GenerationProblems, ProjectionsProblems},
    problem::{Code, Problem},
};

impl InPath for Projection {
    const NAME: &'static str = "name";

    fn parse(text: &str) -> Result<Self, Problem> {
        Self::parse(text).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            Problem::new(Code::UnknownProjection, format!("there are: {names}"))
        })
    }
}

/// The read models and their generations.
#[derive(Debug, Serialize, ToSchema)]
pub struct ProjectionsAnswer {
    /// A group of read models each.
    projections: Vec<ProjectionAnswer>,
}

/// A group of read models that is built, switched and dropped as a whole.
#[derive(Debug, Serialize, ToSchema)]
pub struct ProjectionAnswer {
    /// `conversation` or `notification`.
    name: &'static str,
    /// The generation that answers.
    serving: i32,
    /// The one that answers first; at most one beside it.
    generations: Vec<GenerationAnswer>,
}

/// How one generation stands.
#[derive(Debug, Serialize, ToSchema)]
pub struct GenerationAnswer {
    /// Its number.
    generation: i32,
    /// `serving`, `kept` (served before, and is kept up with the log), `building`, or `interrupted`.
    state: &'static str,
    /// `loading`, `comparing`, `compared`, `switching`, `live`.
    phase: String,
    /// When it was begun; 0 for those that came with the schema.
    made_at: Ms,
    /// What it has passed, over all shards.
    position: u64,
    /// Where the log stands, over all shards.
    head: u64,
    /// Events that it has not passed.
    lag: u64,
    /// Events that it passed a second of late.
    events_per_second: f64,
    /// Conversations that answer nothing, or notifications that were passed over.
    parked: u64,
    /// Events that its rebuild has applied.
    rebuilt_events: u64,
    /// Conversations in which it differed from the one before; of notifications rows.
    differing: u64,
    /// Some of what differed.
    differences: Vec<String>,
    /// Why its last builder gave up.
    failure: Option<String>,
    /// Shard by shard.
    shards: Vec<ShardAnswer>,
}

/// Where a generation stands in a shard.
#[derive(Debug, Serialize, ToSchema)]
pub struct ShardAnswer {
    /// Its number; 32767 is that of the log's own streams.
    shard: u16,
    /// What the generation has passed.
    position: u64,
    /// Where the log stands.
    head: u64,
}

impl GenerationAnswer {
    fn new(status: GenerationStatus, rates: &Rates) -> Self {
        Self {
            generation: status.number,
            state: status.state.name(),
            position: status.passed,
            head: status.head(),
            lag: status.lag(),
            events_per_second: rates.get(&(status.projection, status.number)).copied().unwrap_or(0.0),
            shards: status
                .shards
                .iter()
                .map(|(shard, position, head)| ShardAnswer {
                    shard: shard.get(),
                    position: position.get(),
                    head: head.get(),
                })
                .collect(),
            phase: status.phase,
            made_at: status.made_at,
            parked: status.parked,
            rebuilt_events: status.events,
            differing: status.differing,
            differences: status.differences,
            failure: status.failure,
        }
    }
}

/// How a rebuild is to be.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct RebuildParams {
    /// Only build and compare; the same command without it goes on to the switch.
    check: Option<bool>,
}

/// Which generation it was about.
#[derive(Debug, Serialize, ToSchema)]
pub struct ChangedGeneration {
    /// The read models.
    name: &'static str,
    /// The generation that is built, serves again, or was dropped.
    generation: i32,
}

/// How the read models stand. Role admin.
#[utoipa::path(
    get, path = "/v1/admin/projections", tag = "operations",
    responses((status = 200, description = "Every generation", body = ProjectionsAnswer), ProjectionsProblems),
)]
pub async fn all(State(app): State<Arc<App>>, caller: Caller) -> Result<Json<ProjectionsAnswer>, Problem> {
    admin(&caller)?;
    let (statuses, rates) = app.rebuilds.status().await?;
    let mut projections: Vec<ProjectionAnswer> = Vec::new();
    for status in statuses {
        let (name, number) = (status.projection.name(), status.number);
        let serves = status.state == Standing::Serving;
        let generation = GenerationAnswer::new(status, &rates);
        match projections.last_mut() {
            Some(last) if last.name == name => last.generations.push(generation),
            _ if serves => {
                projections.push(ProjectionAnswer { name, serving: number, generations: vec![generation] });
            }
            _ => return Err(Problem::bug("a generation stands before the one that serves")),
        }
    }
    Ok(Json(ProjectionsAnswer { projections }))
}

/// Builds the read models anew from the log, beside those that serve, and has the new ones serve. Role admin.
///
/// The answer comes at once; how it goes stands in `GET /v1/admin/projections`. One that was interrupted goes on.
#[utoipa::path(
    post, path = "/v1/admin/projections/{name}/rebuild", tag = "operations",
    params(("name" = String, Path, description = "`conversation` or `notification`"), RebuildParams),
    responses((status = 202, description = "Begun", body = ChangedGeneration), GenerationProblems),
)]
pub async fn rebuild(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(projection): Path<Projection>,
    Params(params): Params<RebuildParams>,
) -> Result<(StatusCode, Json<ChangedGeneration>), Problem> {
    admin(&caller)?;
    let generation = app.rebuilds.begin(projection, params.check.unwrap_or(false)).await?;
    Ok((StatusCode::ACCEPTED, Json(ChangedGeneration { name: projection.name(), generation })))
}

/// Has the generation that served before serve again; it was kept up with the log. Role admin.
#[utoipa::path(
    post, path = "/v1/admin/projections/{name}/rollback", tag = "operations",
    params(("name" = String, Path, description = "`conversation` or `notification`")),
    responses((status = 200, description = "It serves", body = ChangedGeneration), GenerationProblems),
)]
pub async fn roll_back(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(projection): Path<Projection>,
) -> Result<Json<ChangedGeneration>, Problem> {
    admin(&caller)?;
    let generation = app.rebuilds.roll_back(projection).await?;
    Ok(Json(ChangedGeneration { name: projection.name(), generation }))
}

/// Drops the generation beside the one that serves. Role admin.
#[utoipa::path(
    post, path = "/v1/admin/projections/{name}/drop", tag = "operations",
    params(("name" = String, Path, description = "`conversation` or `notification`")),
    responses((status = 200, description = "It is gone", body = ChangedGeneration), GenerationProblems),
)]
pub async fn drop_other(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(projection): Path<Projection>,
) -> Result<Json<ChangedGeneration>, Problem> {
    admin(&caller)?;
    let generation = app.rebuilds.drop_other(projection).await?;
    Ok(Json(ChangedGeneration { name: projection.name(), generation }))
}

fn admin(caller: &Caller) -> Result<(), Problem> {
    if caller.roles.admin {
        return Ok(());
    }
    Err(Problem::new(Code::NotAllowed, "the role admin sees to the read models"))
}
