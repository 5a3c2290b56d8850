//! How far a generation has come in each shard, and which conversations are parked: outside the generations.

use std::collections::HashSet;

use deadpool_postgres::Object;
use domain::{ConvId, Ms};
use event_store::{Position, Shard};
use tokio_postgres::{Error, Row, error::SqlState};

use crate::{
    CONVERSATION,
    effects::Parked,
    write::{Write, column, convs, count, int},
};

pub(crate) const MOVE: &str = include_str!("move.sql");
pub(crate) const POSITIONS: &str = include_str!("positions.sql");

/// What move_checkpoint raises where somebody else was faster.
pub(crate) fn was_moved(state: &SqlState) -> bool {
    state.code() == "QP001"
}

/// Makes sure that every shard has its row.
pub(crate) async fn begin(client: &Object, generation: i32, shards: u16) -> Result<(), Error> {
    let begin = client.prepare_cached(include_str!("begin.sql")).await?;
    client.execute(&begin, &[&CONVERSATION, &generation, &i32::from(shards)]).await.map(drop)
}

/// Where a shard stands, and what is parked in it; none where the generation is gone. Read in that order: what is parked later moves the checkpoint,
/// too, so that who has missed it does not get to apply anything.
pub(crate) async fn read(
    client: &Object,
    generation: i32,
    shard: Shard,
) -> Result<Option<(Position, HashSet<ConvId>)>, Error> {
    read_of(client, CONVERSATION, generation, shard).await
}

/// The same of another group of read models.
pub(crate) async fn read_of(
    client: &Object,
    projection: &str,
    generation: i32,
    shard: Shard,
) -> Result<Option<(Position, HashSet<ConvId>)>, Error> {
    let (position, parked) = futures_util::future::try_join(
        client.prepare_cached(include_str!("position.sql")),
        client.prepare_cached(include_str!("parked.sql")),
    )
    .await?;
    let shard = i32::from(shard.get());
    let position = client.query_opt(&position, &[&projection, &generation, &shard]).await?;
    let Some(position) = position.map(|row| row.try_get(0)).transpose()?.map(position_of) else {
        return Ok(None);
    };
    let parked = client.query(&parked, &[&projection, &generation, &shard]).await?;
    let parked = parked.iter().map(|row| row.try_get::<_, &str>(0)).collect::<Result<Vec<_>, _>>()?;
    Ok(Some((position, parked.into_iter().filter_map(|conv| ConvId::parse(conv).ok()).collect())))
}

/// Reads rows of `positions.sql`.
pub(crate) fn positions(rows: &[Row]) -> Result<Vec<(Shard, Position)>, Error> {
    let position = |row: &Row| {
        let shard: i32 = row.try_get(0)?;
        Ok((Shard::new(shard as u16), position_of(row.try_get(1)?)))
    };
    rows.iter().map(position).collect()
}

/// Reads a row of `position.sql`.
pub(crate) fn position_of_row(row: &Row) -> Result<Position, Error> {
    row.try_get(0).map(position_of)
}

fn position_of(position: i64) -> Position {
    Position::new(count(position))
}

/// Parks conversations, in the transaction that passes their events.
pub(crate) fn park(generation: i32, parked: &[Parked], now: Ms) -> Option<Write> {
    let columns = [
        column(parked.iter().map(|_| CONVERSATION)),
        column(parked.iter().map(|_| generation)),
        convs(parked.iter().map(|parked| &parked.conv)),
        column(parked.iter().map(|parked| i32::from(parked.shard.get()))),
        column(parked.iter().map(|parked| int(parked.position.get()))),
        column(parked.iter().map(|parked| parked.event_id)),
        // Postgres takes no NUL in a text, and a reason must not be a poison, too.
        column(parked.iter().map(|parked| parked.reason.replace('\0', "\\0"))),
        column(parked.iter().map(|_| now)),
    ];
    Write::unless_empty(parked.len(), "park conversations", include_str!("park.sql"), columns)
}
