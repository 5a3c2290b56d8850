//! One command from its body to its answer: REST and the WebSocket differ only in how these two travel.

use std::future::Future;

use domain::{Command, ConvId, Reply};
use serde::Serialize;
use uuid::Uuid;

use crate::{app::App, auth::Caller, problem::Problem};

/// The body of a command in a conversation.
pub trait Act: Sized + Send {
    /// What is answered.
    type Answer: Serialize + Send;

    /// Checks everything. `key` is the idempotency key, where there is one.
    fn command(
        self,
        app: &App,
        caller: &Caller,
        key: Option<Uuid>,
    ) -> impl Future<Output = Result<Command, Problem>> + Send;

    /// The answer to what the command came to.
    fn answer(
        app: &App,
        caller: &Caller,
        conv: &ConvId,
        reply: Reply,
    ) -> impl Future<Output = Result<Self::Answer, Problem>> + Send;
}

/// Does it and waits until it is durable.
pub async fn act<A: Act>(
    app: &App,
    caller: &Caller,
    conv: &ConvId,
    key: Option<Uuid>,
    body: A,
) -> Result<A::Answer, Problem> {
    let command = body.command(app, caller, key).await?;
    let reply = app.command(caller, conv, command).await?;
    A::answer(app, caller, conv, reply).await
}
