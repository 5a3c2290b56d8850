//! For operators and their load balancers, and the answers where there is nothing.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    http::{StatusCode, Uri, header},
    response::IntoResponse,
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    app::App,
    problem::{Code, Problem},
    ready::{Readiness, readiness},
};

/// That the process lives.
#[derive(Debug, Serialize, ToSchema)]
pub struct Health {
    /// `ok`
    status: &'static str,
}

/// Does the process live?
#[utoipa::path(
    get, path = "/healthz", tag = "operations", security(()),
    responses((status = 200, description = "It does", body = Health)),
)]
pub async fn healthz() -> Json<Health> {
    Json(Health { status: "ok" })
}

/// Are the log, the database and the projections well?
#[utoipa::path(
    get, path = "/readyz", tag = "operations", security(()),
    responses(
        (status = 200, description = "All is well", body = Readiness),
        (status = 503, description = "Something is not", body = Readiness),
    ),
)]
pub async fn readyz(State(app): State<Arc<App>>) -> (StatusCode, Json<Readiness>) {
    let readiness = readiness(&app.checks).await;
    let status = if readiness.ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(readiness))
}

/// Metrics for Prometheus.
#[utoipa::path(
    get, path = "/metrics", tag = "operations", security(()),
    responses((status = 200, description = "Text exposition format", body = String, content_type = "text/plain")),
)]
pub async fn metrics(State(app): State<Arc<App>>) -> impl IntoResponse {
    app.sizes.measure().await;
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], app.metrics.render())
}

/// No route has this path.
pub async fn not_found(uri: Uri) -> Problem {
    Problem::new(Code::NotFound, format!("there is nothing at {}", uri.path()))
}

/// A route has this path, but not with this method.
pub async fn method_not_allowed() -> Problem {
    Problem::new(Code::MethodNotAllowed, "the header Allow names the methods that this address takes")
}
