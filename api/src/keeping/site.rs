//! What a removal at the command line works with: a session of compliance, a handler of commands, and read models that
//! are kept up with the log here, whether a `serve` runs or not.

use std::{error::Error, sync::Arc};

use event_store::CommandHandler;
use projections::{Generation, Projector, ProjectorHandle, ReadModels};

use super::Keeping;
use crate::audit::Session;

/// Connections for questions.
const QUERY_CONNECTIONS: usize = 4;
/// Connections for the projector, of whose shards a few work at a time.
const PROJECTOR_CONNECTIONS: usize = 8;

/// Opened by one command and closed at its end.
pub struct Site {
    /// Holds, retention, erasure.
    pub keeping: Keeping,
    /// Takes commands.
    pub commands: CommandHandler,
    /// Answers who is where.
    pub read_models: ReadModels,
    projector: ProjectorHandle,
}

impl Site {
    /// On the database of this session.
    pub async fn open(session: &Session) -> Result<Self, Box<dyn Error>> {
        let (database, store) = (session.database(), &session.store);
        let clock = Arc::clone(&session.surroundings.clock);
        let generation = Generation::serving(database, PROJECTOR_CONNECTIONS).await?;
        let projector = Projector::start(Arc::clone(store), generation, clock).await?;
        let generation = Generation::serving(database, QUERY_CONNECTIONS).await?;
        let read_models = ReadModels::new(Arc::clone(store), generation, Some(projector.progress()));
        Ok(Self {
            keeping: Keeping::new(database, store, &session.surroundings)?,
            commands: CommandHandler::start(store, &session.surroundings),
            read_models,
            projector,
        })
    }

    /// To be called at the end, whatever came of it.
    pub async fn close(self) {
        self.commands.drain().await;
        self.projector.shutdown().await;
    }
}
