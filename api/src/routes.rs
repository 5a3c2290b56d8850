//! All routes on a page.

use std::{any::Any, sync::Arc};

use axum::{
    Router, middleware,
    response::{IntoResponse, Response},
    routing::{delete, get, post, put},
};
use tower_http::catch_panic::CatchPanicLayer;
use utoipa::OpenApi;
use utoipa_swagger_ui::SwaggerUi;

use crate::{
    app::App,
    openapi::Description,
    problem::Problem,
    requests,
    rest::{
        audit, batch, conversations, groups, marks, members, messages, notifications, operations, presence,
        projections, readers, sync,
    },
    ws,
};

/// The whole HTTP side of the server.
pub fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/v1/conversations", get(conversations::list))
        .route("/v1/conversations/with/{uid}", get(conversations::with))
        .route("/v1/conversations/{conv_id}", get(conversations::one).delete(conversations::hide))
        .route("/v1/conversations/{conv_id}/settings", put(conversations::settle))
        .route("/v1/conversations/{conv_id}/messages", get(messages::page).post(messages::send))
        .route("/v1/conversations/{conv_id}/messages/delete", post(messages::delete))
        .route("/v1/conversations/{conv_id}/messages/restore", post(messages::restore))
        .route("/v1/conversations/{conv_id}/messages/{seq}/recall", post(messages::recall))
        .route("/v1/conversations/{conv_id}/messages/{seq}/readers", get(readers::readers))
        .route("/v1/conversations/{conv_id}/read", put(marks::read))
        .route("/v1/conversations/{conv_id}/read-positions", get(readers::read_positions))
        .route("/v1/conversations/{conv_id}/clear", post(marks::clear))
        .route("/v1/groups", post(groups::create))
        .route("/v1/groups/{conv_id}", get(groups::one).patch(groups::change).delete(groups::dissolve))
        .route("/v1/groups/{conv_id}/members", get(members::list).post(members::add))
        .route("/v1/groups/{conv_id}/members/{uid}", delete(members::remove))
        .route("/v1/groups/{conv_id}/members/{uid}/role", put(members::set_role))
        .route("/v1/notifications", get(notifications::page).post(notifications::post))
        .route("/v1/notifications/read", put(notifications::read))
        .route("/v1/presence", get(presence::presence))
        .route("/v1/ws", get(ws::connect))
        .route("/v1/sync", get(sync::sync))
        .route("/v1/messages/batch", post(batch::batch))
        .route("/v1/admin/projections", get(projections::all))
        .route("/v1/admin/projections/{name}/rebuild", post(projections::rebuild))
        .route("/v1/admin/projections/{name}/rollback", post(projections::roll_back))
        .route("/v1/admin/projections/{name}/drop", post(projections::drop_other))
        .route("/v1/audit/conversations/{conv_id}/events", get(audit::events::events))
        .route("/v1/audit/messages/{msg_id}", get(audit::message::message))
        .route("/v1/audit/accesses", get(audit::accesses::accesses))
        .route("/v1/audit/erasures", post(audit::erasures::ask))
        .route("/v1/audit/erasures/{uid}", get(audit::erasures::show))
        .route("/v1/audit/holds", get(audit::holds::list))
        .route(
            "/v1/audit/holds/{subject}",
            get(audit::holds::show).put(audit::holds::place).delete(audit::holds::lift),
        )
        .route("/healthz", get(operations::healthz))
        .route("/readyz", get(operations::readyz))
        .route("/metrics", get(operations::metrics))
        .merge(SwaggerUi::new("/docs").url("/openapi.json", Description::openapi()))
        .fallback(operations::not_found)
        .method_not_allowed_fallback(operations::method_not_allowed)
        .layer(CatchPanicLayer::custom(panicked))
        .layer(middleware::from_fn_with_state(Arc::clone(&app), requests::follow))
        .with_state(app)
}

/// The panic hook has logged what it was.
fn panicked(_: Box<dyn Any + Send>) -> Response {
    Problem::bug("a handler panicked").into_response()
}
