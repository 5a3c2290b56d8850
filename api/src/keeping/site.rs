//! What a removal at the command line works with: a session of compliance, a handler of commands, and read models that
//! are kept up with the log here, every generation of them, whether a `serve` runs or not.

use std::{error::Error, sync::Arc};

use event_store::CommandHandler;
use projections::{Projectors, ReadModels};

use super::Keeping;
use crate::audit::Session;

/// Opened by one command and closed at its end.
pub struct Site {
    /// Holds, retention, erasure.
    pub keeping: Keeping,
    /// Takes commands.
    pub commands: CommandHandler,
    /// Answers who is where.
    pub read_models: ReadModels,
    projectors: Projectors,
}

impl Site {
    /// On the database of this session.
    pub async fn open(session: &Session) -> Result<Self, Box<dyn Error>> {
        let (database, store) = (session.database(), &session.store);
        let clock = Arc::clone(&session.surroundings.clock);
        let projectors = Projectors::start(database, Arc::clone(store), clock).await?;
        Ok(Self {
            keeping: Keeping::new(database, store, &session.surroundings)?,
            commands: CommandHandler::start(store, &session.surroundings),
            read_models: projectors.read_models(),
            projectors,
        })
    }

    /// To be called at the end, whatever came of it.
    pub async fn close(self) {
        self.commands.drain().await;
        self.projectors.shutdown().await;
    }
}
