//! Rebuilds that run in this server: begun by an admin, ended with the server between two chunks. Whoever begins the
//! same one again, here or elsewhere, goes on where it was.

use projections::{
    Projection, ProjectorsWatch, Rates,
    generations::{GenerationError, GenerationStatus},
    rebuild::Rebuild,
};
use tokio::{
    sync::{Mutex, watch},
    task::JoinSet,
};

/// Begins rebuilds, rolls back, drops, and tells how the read models stand.
pub struct Rebuilds {
    projectors: ProjectorsWatch,
    stop: watch::Sender<bool>,
    /// One at most for each group of read models: who begins has the right to, and there is one right.
    running: Mutex<JoinSet<()>>,
}

impl Rebuilds {
    /// Of a running node.
    pub fn new(projectors: ProjectorsWatch) -> Self {
        Self { projectors, stop: watch::Sender::new(false), running: Mutex::default() }
    }

    /// Every generation, and how many events a second each has passed of late.
    pub async fn status(&self) -> Result<(Vec<GenerationStatus>, Rates), GenerationError> {
        Ok((self.projectors.generations().status().await?, self.projectors.rates()))
    }

    /// Begins a rebuild that goes on by itself. Answers the new generation's number.
    pub async fn begin(&self, projection: Projection, check_only: bool) -> Result<i32, GenerationError> {
        let rebuild = Rebuild::begin(&self.projectors.generations(), projection).await?;
        let (number, stop) = (rebuild.number(), self.stop.subscribe());
        let mut running = self.running.lock().await;
        while running.try_join_next().is_some() {}
        running.spawn(async move {
            // How it goes and why it ended stands with the generation, and in the log.
            let _ = rebuild.run(check_only, &mut |_| {}, &stop).await;
        });
        Ok(number)
    }

    /// Has the generation before serve again.
    pub async fn roll_back(&self, projection: Projection) -> Result<i32, GenerationError> {
        self.projectors.generations().roll_back(projection).await
    }

    /// Drops the generation beside the one that serves.
    pub async fn drop_other(&self, projection: Projection) -> Result<i32, GenerationError> {
        self.projectors.generations().drop(projection).await
    }

    /// Ends what runs, and waits for it.
    pub async fn stop(&self) {
        self.stop.send_replace(true);
        let mut running = self.running.lock().await;
        while running.join_next().await.is_some() {}
    }
}
