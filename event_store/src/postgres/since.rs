//! What has come since a position, for many conversations at once: which of them have grown, and their later facts.

use domain::{ConvId, Seq};

use super::{Inner, failure::unavailable, rows};
use crate::{
    port::{Since, StoreError},
    recorded::{Position, Recorded},
};

pub(super) async fn stream_positions(
    inner: &Inner,
    convs: &[ConvId],
) -> Result<Vec<[Position; 3]>, StoreError> {
    let doing = "read where conversations stand";
    let mut positions = vec![[Position::START; 3]; convs.len()];
    let texts: Vec<&str> = convs.iter().map(ConvId::as_str).collect();
    let client = inner.client(doing).await?;
    let statement = client
        .prepare_cached(include_str!("stream_positions.sql"))
        .await
        .map_err(|error| unavailable(doing, error))?;
    let rows = client.query(&statement, &[&texts]).await.map_err(|error| unavailable(doing, error))?;
    for row in rows {
        let place = row.get::<_, i64>(0) as usize - 1;
        let position = |column| Position::new(row.get::<_, Option<i64>>(column).unwrap_or(0) as u64);
        if let Some(of) = positions.get_mut(place) {
            *of = [position(1), position(2), position(3)];
        }
    }
    Ok(positions)
}

pub(super) async fn first_messages(
    inner: &Inner,
    asked: &[(ConvId, Position)],
) -> Result<Vec<Option<Seq>>, StoreError> {
    let doing = "look where conversations have grown";
    let texts: Vec<&str> = asked.iter().map(|(conv, _)| conv.as_str()).collect();
    let after: Vec<i64> = asked.iter().map(|(_, after)| rows::position(*after)).collect();
    let client = inner.client(doing).await?;
    let statement = client
        .prepare_cached(include_str!("first_messages.sql"))
        .await
        .map_err(|error| unavailable(doing, error))?;
    let rows =
        client.query(&statement, &[&texts, &after]).await.map_err(|error| unavailable(doing, error))?;
    let mut firsts = vec![None; asked.len()];
    for row in rows {
        if let Some(first) = firsts.get_mut(row.get::<_, i64>(0) as usize - 1) {
            *first = Some(Seq::new(row.get::<_, i64>(1) as u64));
        }
    }
    Ok(firsts)
}

pub(super) async fn facts_since(
    inner: &Inner,
    asked: &[Since],
    each: u32,
    limit: u32,
) -> Result<Vec<Recorded>, StoreError> {
    let doing = "read later facts of conversations";
    let texts: Vec<&str> = asked.iter().map(|asked| asked.conv.as_str()).collect();
    let after: Vec<i64> = asked.iter().map(|asked| rows::position(asked.after)).collect();
    let up_to: Vec<i64> = asked.iter().map(|asked| rows::position(asked.up_to)).collect();
    let client = inner.client(doing).await?;
    let statement = client
        .prepare_cached(include_str!("facts_since.sql"))
        .await
        .map_err(|error| unavailable(doing, error))?;
    let params: [&(dyn tokio_postgres::types::ToSql + Sync); 5] =
        [&texts, &after, &up_to, &i64::from(each), &i64::from(limit)];
    let rows = client.query(&statement, &params).await.map_err(|error| unavailable(doing, error))?;
    rows.iter().map(rows::recorded).collect()
}
