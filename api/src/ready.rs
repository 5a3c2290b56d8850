//! Is everything well? `/readyz` asks; what is asked comes from `serve`.

use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::join_all;
use serde::Serialize;
use utoipa::ToSchema;

/// A load balancer asks every few seconds; what does not answer in this time is not well.
const CHECK_TIME_MAX: Duration = Duration::from_secs(2);

/// One thing that must be well.
#[async_trait]
pub trait Check: Send + Sync + 'static {
    /// What it is, for the answer's reader.
    fn name(&self) -> &'static str;

    /// What is known of it; an error says, fit for anybody's eyes, what is not well.
    async fn check(&self) -> Result<String, String>;
}

/// All of them.
pub type Checks = Vec<Box<dyn Check>>;

/// How it is.
#[derive(Debug, Serialize, ToSchema)]
pub struct Readiness {
    /// Is all well?
    pub ready: bool,
    /// One by one.
    pub checks: Vec<Checked>,
}

/// How one thing is.
#[derive(Debug, Serialize, ToSchema)]
pub struct Checked {
    /// `log`, `database`, `projections` …
    name: &'static str,
    /// Is it well?
    ok: bool,
    /// What is known of it.
    detail: String,
}

/// Asks all at once.
pub async fn readiness(checks: &Checks) -> Readiness {
    let checks = join_all(checks.iter().map(|check| checked(&**check))).await;
    Readiness { ready: checks.iter().all(|it| it.ok), checks }
}

async fn checked(check: &dyn Check) -> Checked {
    let answer = tokio::time::timeout(CHECK_TIME_MAX, check.check()).await;
    let answer = answer.unwrap_or_else(|_| Err("no answer in time".into()));
    let ok = answer.is_ok();
    Checked { name: check.name(), ok, detail: answer.unwrap_or_else(|error| error) }
}
