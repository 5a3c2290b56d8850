//! What `serve` does by itself: it goes on with erasures that were asked for, here or elsewhere, and lets retention take
//! what is too old, where that is switched on. Of several nodes one works at a time.

use std::time::Duration;

use domain::Rejection;
use event_store::{CommandError, CommandHandler, postgres::holds};
use projections::ReadModels;
use tokio::{
    task::JoinHandle,
    time::{Instant, sleep},
};

use super::{Keeping, KeepingError, policy::Policy, removal::Depth};
use crate::cli::chain_of;

/// How often it looks whether there is something to do that another node was asked for.
const LOOK_EVERY: Duration = Duration::from_secs(60);
/// Messages a second that retention takes in the background: a third of what comes in at full load.
const PACE: u32 = 5_000;

/// The work in the background. Ends when it is dropped; whatever it was at goes on at the next start.
pub struct Upkeep(JoinHandle<()>);

impl Drop for Upkeep {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Upkeep {
    /// Starts it.
    pub fn start(
        keeping: Keeping,
        commands: CommandHandler,
        read_models: ReadModels,
        policy: Policy,
    ) -> Self {
        Self(tokio::spawn(run(keeping, commands, read_models, policy)))
    }
}

async fn run(keeping: Keeping, commands: CommandHandler, read_models: ReadModels, policy: Policy) {
    let mut retain_at = policy.enabled.then(|| Instant::now() + LOOK_EVERY);
    loop {
        erasures(&keeping, &commands, &read_models).await;
        if let Some(at) = retain_at.filter(|at| *at <= Instant::now()) {
            let (depth, pace) = (Depth::InPassing, Some(PACE));
            let retained = keeping.retain(&commands, &read_models, &policy, depth, pace).await;
            retain_at = match retained {
                Ok(_) => Some(at.max(Instant::now() - policy.every) + policy.every),
                // Another node is at it, or it is tried again soon.
                Err(error) => {
                    say("retention waits", &error);
                    Some(Instant::now() + LOOK_EVERY)
                }
            };
        }
        tokio::select! {
            () = keeping.wake.notified() => {}
            () = sleep(LOOK_EVERY) => {}
        }
    }
}

/// All that were asked for and have not come to their end.
async fn erasures(keeping: &Keeping, commands: &CommandHandler, read_models: &ReadModels) {
    let open = match holds::erasing(&keeping.pool).await {
        Ok(open) => open,
        Err(error) => return say("erasures wait", &error.into()),
    };
    metrics::gauge!("quipu_erasures_open").set(open.len() as f64);
    for uid in open {
        if let Err(error) = keeping.erase(commands, read_models, uid).await {
            say("an erasure waits", &error);
        }
    }
}

/// That somebody else is at it, or that a hold stands, is as it should be.
fn say(what: &str, error: &KeepingError) {
    let expected = matches!(
        error,
        KeepingError::Busy | KeepingError::Command(CommandError::Rejected(Rejection::Held { .. }))
    );
    if expected {
        tracing::info!(reason = %error, "{what}");
    } else {
        tracing::warn!(error = chain_of(error), "{what}");
    }
}
