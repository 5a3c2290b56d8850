//! Loads what commands need: at most six statements for a whole batch, whatever the length of the histories.

use std::{
    collections::HashMap,
    sync::atomic::{AtomicU64, Ordering},
};

use deadpool_postgres::Client;
use domain::{Key, Need, Seq, StreamKind};
use tokio_postgres::{Row, types::ToSql};
use uuid::Uuid;

use super::{conversations::Conversations, failure::unavailable, rows};
use crate::{
    handler::pieces::key_text,
    port::{Found, Looked, StoreError, StreamHead, Wanted},
    recorded::StreamName,
};

pub(super) const DOING: &str = "load what commands need";

type Params<'a, const N: usize> = [&'a (dyn ToSql + Sync); N];

/// What is asked of each statement, as columns; the rows that come back are matched by stream and key.
#[derive(Default)]
struct Asked {
    heads: Vec<i64>,
    piece_streams: Vec<i64>,
    piece_keys: Vec<String>,
    keys: HashMap<(i64, String), Key>,
    message_streams: Vec<i64>,
    message_versions: Vec<i64>,
    event_streams: Vec<i64>,
    event_ids: Vec<Uuid>,
    /// Which of the wanted a conversation's number belongs to.
    places: HashMap<i64, usize>,
}

pub(super) async fn load(
    client: &Client,
    conversations: &Conversations,
    loads: &AtomicU64,
    wanted: &[Wanted],
) -> Result<Vec<Found>, StoreError> {
    let convs: Vec<_> = wanted.iter().map(|wanted| wanted.conv.as_str()).collect();
    let numbers = conversations.numbers(client, &convs).await?;
    loads.fetch_add(1, Ordering::Relaxed);
    let mut found: Vec<Found> = wanted
        .iter()
        .map(|wanted| Found { heads: wanted.heads.then(Default::default), ..Found::default() })
        .collect();
    let mut asked = Asked::default();
    for (place, wanted) in wanted.iter().enumerate() {
        // One that has no number has no events either.
        if let Some(conv_no) = numbers.get(wanted.conv.as_str()) {
            asked.ask(place, *conv_no, wanted);
        }
    }
    let heads: Params<1> = [&asked.heads];
    let pieces: Params<2> = [&asked.piece_streams, &asked.piece_keys];
    let messages: Params<2> = [&asked.message_streams, &asked.message_versions];
    let events: Params<2> = [&asked.event_streams, &asked.event_ids];
    // All four are on their way before the first is answered.
    let (heads, pieces, messages, events) = tokio::try_join!(
        query(client, loads, include_str!("stream_heads.sql"), &heads, asked.heads.len()),
        query(client, loads, include_str!("pieces.sql"), &pieces, asked.piece_keys.len()),
        query(client, loads, include_str!("messages.sql"), &messages, asked.message_streams.len()),
        query(client, loads, include_str!("events_by_id.sql"), &events, asked.event_ids.len()),
    )?;
    for row in heads {
        let (place, kind) = asked.place(row.get(0));
        if let (Some(found), Some(kind)) = (place.and_then(|place| found.get_mut(place)), kind)
            && let Some(heads) = &mut found.heads
        {
            let version: i64 = row.get(1);
            heads[kind as usize] = StreamHead { version: version as u64, chain: rows::hash(row.get(2))? };
        }
    }
    for row in pieces {
        let stream: i64 = row.get(0);
        let key = asked.keys.get(&(stream, row.get(1)));
        if let (Some(found), Some(key)) = (asked.place(stream).0.and_then(|place| found.get_mut(place)), key)
        {
            found.pieces.push((*key, row.get(2)));
        }
    }
    for row in messages {
        if let Some(found) = asked.place(row.get(0)).0.and_then(|place| found.get_mut(place)) {
            let (version, sender, create_at): (i64, i64, Option<i64>) = (row.get(1), row.get(2), row.get(3));
            found.messages.push((Seq::new(version as u64), sender as u64, create_at.unwrap_or(0)));
        }
    }
    for row in events {
        if let Some(found) = asked.place(row.get("stream_id")).0.and_then(|place| found.get_mut(place)) {
            let recorded = rows::recorded(&row)?;
            found.events.push((recorded.header.event_id, recorded));
        }
    }
    Ok(found)
}

impl Asked {
    fn ask(&mut self, place: usize, conv_no: i64, wanted: &Wanted) {
        self.places.insert(conv_no, place);
        if wanted.heads {
            self.heads.extend(StreamKind::ALL.map(|kind| rows::stream_id(conv_no, Some(kind))));
        }
        for need in &wanted.needs {
            match need {
                Need::Piece(key) => {
                    let (stream, text) = (rows::stream_id(conv_no, Some(key.stream())), key_text(*key));
                    self.piece_streams.push(stream);
                    self.piece_keys.push(text.clone());
                    self.keys.insert((stream, text), *key);
                }
                Need::Message(seq) => {
                    self.message_streams.push(rows::stream_id(conv_no, Some(StreamKind::Message)));
                    self.message_versions.push(seq.get() as i64);
                }
                Need::Event(kind, id) => {
                    self.event_streams.push(rows::stream_id(conv_no, Some(*kind)));
                    self.event_ids.push(id.get());
                }
            }
        }
    }

    fn place(&self, stream_id: i64) -> (Option<usize>, Option<StreamKind>) {
        let (conv_no, kind) = rows::parts(stream_id);
        (self.places.get(&conv_no).copied(), kind)
    }
}

/// Where streams stand, and pieces of theirs, in at most three statements.
pub(super) async fn look(
    client: &Client,
    conversations: &Conversations,
    loads: &AtomicU64,
    streams: &[StreamName],
    pieces: &[(StreamName, String)],
) -> Result<Looked, StoreError> {
    let cords: Vec<_> =
        streams.iter().chain(pieces.iter().map(|(stream, _)| stream)).map(StreamName::cord).collect();
    let numbers = conversations.numbers(client, &cords).await?;
    loads.fetch_add(1, Ordering::Relaxed);
    let id = |stream: &StreamName| Some(rows::stream_id(*numbers.get(&*stream.cord())?, stream.kind()));
    // One that has no number has no events and no pieces either.
    let head_ids: Vec<i64> = streams.iter().filter_map(id).collect();
    let (piece_ids, keys): (Vec<i64>, Vec<&str>) =
        pieces.iter().filter_map(|(stream, key)| Some((id(stream)?, key.as_str()))).unzip();
    let (head_params, piece_params): (Params<1>, Params<2>) = ([&head_ids], [&piece_ids, &keys]);
    let (heads, found) = tokio::try_join!(
        query(client, loads, include_str!("stream_heads.sql"), &head_params, head_ids.len()),
        query(client, loads, include_str!("pieces.sql"), &piece_params, keys.len()),
    )?;
    let mut by_stream: HashMap<i64, StreamHead> = HashMap::new();
    for row in heads {
        let version: i64 = row.get(1);
        by_stream.insert(row.get(0), StreamHead { version: version as u64, chain: rows::hash(row.get(2))? });
    }
    let values: HashMap<(i64, String), String> =
        found.iter().map(|row| ((row.get(0), row.get(1)), row.get(2))).collect();
    let head = |stream| id(stream).and_then(|id| by_stream.get(&id).copied()).unwrap_or_default();
    let value = |(stream, key): &(StreamName, String)| values.get(&(id(stream)?, key.clone())).cloned();
    Ok(Looked { heads: streams.iter().map(head).collect(), pieces: pieces.iter().map(value).collect() })
}

async fn query(
    client: &Client,
    loads: &AtomicU64,
    sql: &str,
    params: &[&(dyn ToSql + Sync)],
    asked: usize,
) -> Result<Vec<Row>, StoreError> {
    if asked == 0 {
        return Ok(vec![]);
    }
    loads.fetch_add(1, Ordering::Relaxed);
    let statement = client.prepare_cached(sql).await.map_err(|error| unavailable(DOING, error))?;
    client.query(&statement, params).await.map_err(|error| unavailable(DOING, error))
}
