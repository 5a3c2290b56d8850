//! Writes what a batch comes to, in one pipelined transaction together with its checkpoint.
//!
//! Everything is sent at once, COMMIT included: where a statement fails the later ones fail, too, and COMMIT rolls
//! back. Only where a filling bucket becomes full is there a second round trip, for its rows of the tail.

use deadpool_postgres::{Object, PoolError};
use domain::Ms;
use event_store::{Position, Shard};
use futures_util::future::{BoxFuture, FutureExt, join_all};
use tokio_postgres::{Row, Statement, error::SqlState, types::ToSql};

use crate::{
    CONVERSATION, checkpoint,
    effects::{Effects, Folded},
    history::{Plan, TAKE, TAKEN_COLUMNS, bucket::SealError, message::Damaged},
    removal::{self, Place},
    write::{Column, Write, int},
};

/// What is applied, and between which positions.
pub(crate) struct Step {
    /// Is much of it at once? Then histories are copied, and what is reckoned is reckoned beside the runtime.
    pub bulk: bool,
    pub generation: i32,
    pub shard: Shard,
    pub from: Position,
    pub to: Position,
    pub folded: Folded,
    pub now: Ms,
}

/// Why a batch was not applied. Nothing of it was done, but where the connection went during COMMIT.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ApplyError {
    /// Another process has applied it.
    #[error("the checkpoint was moved by another process")]
    Moved,
    /// The database will not take something in it, today or tomorrow.
    #[error("{doing}: the database refuses it")]
    Refused { doing: &'static str, source: tokio_postgres::Error },
    /// A bucket has a hole.
    #[error(transparent)]
    Seal(#[from] SealError),
    /// What is stored makes no sense.
    #[error(transparent)]
    Damaged(#[from] Damaged),
    /// The runtime ends.
    #[error("pack histories: the process ends")]
    Ends,
    /// The database is away.
    #[error("{doing}")]
    Database { doing: &'static str, source: tokio_postgres::Error },
    /// No connection.
    #[error("get a connection to the read models")]
    Pool(#[from] PoolError),
}

impl ApplyError {
    pub(crate) fn of(doing: &'static str, source: tokio_postgres::Error) -> Self {
        match source.code() {
            Some(state) if checkpoint::was_moved(state) => Self::Moved,
            Some(state) if is_about_data(state) => Self::Refused { doing, source },
            _ => Self::Database { doing, source },
        }
    }

    /// Did it take longer than a statement may?
    pub(crate) fn is_timeout(&self) -> bool {
        matches!(self, Self::Database { source, .. } if source.code() == Some(&SqlState::QUERY_CANCELED))
    }

    /// Does nobody know in which state the connection is? Then nobody shall find out.
    pub(crate) fn spoils(&self) -> bool {
        matches!(self, Self::Database { .. })
    }

    /// Is it the batch's fault, and not the moment's?
    pub(crate) fn is_poison(&self) -> bool {
        matches!(self, Self::Refused { .. } | Self::Seal(_) | Self::Damaged(_))
    }
}

/// Data exceptions, violated constraints, and rows that exceed a limit of Postgres.
fn is_about_data(state: &SqlState) -> bool {
    ["22", "23", "54"].contains(&&state.code()[..2])
}

/// Read models are derived: a crash of Postgres may take the last batches, with their checkpoints.
pub(crate) const BEGIN: &str = "begin; set local synchronous_commit = off";

/// Applies a step. To be run to its end: followers stop between batches only. Who hears an error that spoils the
/// connection gives it away.
pub(crate) async fn apply(client: &Object, step: Step) -> Result<(), ApplyError> {
    // What is gone goes first, in transactions of its own.
    let place = Place { generation: step.generation, shard: step.shard, position: step.from };
    for gone in &step.folded.effects.removals {
        removal::remove(client, place, gone).await?;
    }
    Pipeline { client }.apply(step).await
}

/// Gives a connection back, unless an error has spoilt it.
pub(crate) fn give_back(client: Object, error: Option<&ApplyError>) {
    if error.is_some_and(ApplyError::spoils) {
        // Whatever state it is in, nobody shall find out.
        drop(Object::take(client));
    }
}

struct Pipeline<'a> {
    client: &'a Object,
}

/// What is under way, in the order in which it was sent.
type Sent<'a> = BoxFuture<'a, Result<Vec<Row>, ApplyError>>;

impl<'a> Pipeline<'a> {
    async fn apply(&self, step: Step) -> Result<(), ApplyError> {
        let Step { bulk, generation, shard, from, to, folded, now } = step;
        let Effects {
            history,
            marks,
            reads,
            watermarks,
            settings,
            heads,
            members,
            mentions,
            departures,
            removals: _,
        } = folded.effects;
        let mut plan = history.plan();
        let moved = Write {
            doing: "move the checkpoint",
            sql: checkpoint::MOVE,
            columns: vec![
                Box::new(CONVERSATION),
                Box::new(generation),
                Box::new(i32::from(shard.get())),
                Box::new(int(from.get())),
                Box::new(int(to.get())),
            ],
        };
        let mut opening = vec![self.prepared(moved).await?];
        if let Some(columns) = plan.take() {
            let take = Write { doing: "take the tail's part", sql: TAKE, columns: columns.into() };
            opening.push(self.prepared(take).await?);
            self.take(&mut plan, &opening).await?;
            opening.clear();
        }
        let mut begun = opening.is_empty();
        let packed = if bulk {
            tokio::task::spawn_blocking(|| plan.pack()).await.map_err(|_| ApplyError::Ends)
        } else {
            Ok(plan.pack())
        };
        let packed = match packed.and_then(|packed| Ok(packed?)) {
            Ok(packed) => packed,
            Err(error) => return self.give_up(begun, error).await,
        };
        let history = if bulk {
            if !begun {
                self.open(&opening).await?;
                opening.clear();
                begun = true;
            }
            if let Err(error) = packed.copy(self.client).await {
                return self.give_up(true, ApplyError::of("copy histories", error)).await;
            }
            packed.notes()
        } else {
            packed.writes()
        };
        let writes = history
            .into_iter()
            .chain(marks.writes())
            .chain(reads.writes())
            .chain(watermarks.writes())
            .chain(settings.writes())
            .chain(heads.writes())
            .chain(members.writes())
            .chain(mentions.writes())
            .chain(departures.writes())
            .chain(checkpoint::park(generation, &folded.parked, now));
        for write in writes {
            match self.prepared(write).await {
                Ok(write) => opening.push(write),
                Err(error) => return self.give_up(begun, error).await,
            }
        }
        let mut sent = Vec::with_capacity(opening.len() + 2);
        if !begun {
            sent.push(self.simple("begin", BEGIN));
        }
        sent.extend(opening.iter().map(|write| self.statement(write)));
        sent.push(self.simple("commit", "commit"));
        all(sent).await.map(drop)
    }

    /// The first round trip of two.
    async fn take(&self, plan: &mut Plan, opening: &[Prepared]) -> Result<(), ApplyError> {
        let taken = self.open(opening).await?;
        let rows = taken.iter().flatten().filter(|row| row.len() == TAKEN_COLUMNS);
        plan.put_back(rows).map_err(|error| ApplyError::of("take the tail's part", error))
    }

    /// Begins, and sends what comes first.
    async fn open(&self, opening: &[Prepared]) -> Result<Vec<Vec<Row>>, ApplyError> {
        let begin = [self.simple("begin", BEGIN)];
        let sent = begin.into_iter().chain(opening.iter().map(|write| self.statement(write))).collect();
        match all(sent).await {
            Ok(rows) => Ok(rows),
            Err(error) => self.give_up(true, error).await.map(|()| Vec::new()),
        }
    }

    async fn give_up(&self, begun: bool, error: ApplyError) -> Result<(), ApplyError> {
        if begun {
            let rolled_back = self.client.batch_execute("rollback").await;
            rolled_back.map_err(|source| ApplyError::Database { doing: "roll back", source })?;
        }
        Err(error)
    }

    async fn prepared(&self, Write { doing, sql, columns }: Write) -> Result<Prepared, ApplyError> {
        let statement =
            self.client.prepare_cached(sql).await.map_err(|error| ApplyError::of(doing, error))?;
        Ok(Prepared { doing, statement, columns })
    }

    fn simple(&self, doing: &'static str, sql: &'static str) -> Sent<'a> {
        let client = self.client;
        let sent =
            async move { client.batch_execute(sql).await.map_err(|error| ApplyError::of(doing, error)) };
        sent.map(|done| done.map(|()| Vec::new())).boxed()
    }

    fn statement<'b>(&self, write: &'b Prepared) -> Sent<'b>
    where
        'a: 'b,
    {
        let client = self.client;
        let sent = async move {
            let columns: Vec<_> =
                write.columns.iter().map(|column| &**column as &(dyn ToSql + Sync)).collect();
            let rows = client.query(&write.statement, &columns).await;
            rows.map_err(|error| ApplyError::of(write.doing, error))
        };
        sent.boxed()
    }
}

struct Prepared {
    doing: &'static str,
    statement: Statement,
    columns: Vec<Column>,
}

/// Sends everything in this order before it waits for the first answer. The first failure is the cause of the
/// others.
async fn all(sent: Vec<Sent<'_>>) -> Result<Vec<Vec<Row>>, ApplyError> {
    join_all(sent).await.into_iter().collect()
}
