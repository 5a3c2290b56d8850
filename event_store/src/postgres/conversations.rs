//! Conversations' short keys, remembered.

use std::{
    collections::HashMap,
    num::NonZeroUsize,
    sync::{Mutex, MutexGuard, PoisonError},
};

use deadpool_postgres::Client;
use domain::ConvId;
use lru::LruCache;

use super::failure::unavailable;
use crate::{port::StoreError, shard::Shard};

/// Short keys that are remembered, about 100 bytes each.
const REMEMBERED_MAX: NonZeroUsize = NonZeroUsize::new(65_536).unwrap();

const DOING: &str = "look up conversations";

pub(super) struct Conversations {
    remembered: Mutex<LruCache<ConvId, i64>>,
}

impl Conversations {
    pub fn new() -> Self {
        Self { remembered: Mutex::new(LruCache::new(REMEMBERED_MAX)) }
    }

    /// The numbers of those that have one.
    pub async fn numbers(
        &self,
        client: &Client,
        conversations: &[&ConvId],
    ) -> Result<HashMap<ConvId, i64>, StoreError> {
        let (mut numbers, unknown) = self.recall(conversations);
        if !unknown.is_empty() {
            let found = look_up(client, &unknown).await?;
            self.remember(&found);
            numbers.extend(found);
        }
        Ok(numbers)
    }

    /// The numbers of all, new ones for those that have none. Inside a transaction they are remembered only by
    /// [`Conversations::remember`], once it is committed.
    pub async fn numbers_or_new(
        &self,
        client: &Client,
        shard: Shard,
        conversations: &[&ConvId],
    ) -> Result<HashMap<ConvId, i64>, StoreError> {
        let (mut numbers, unknown) = self.recall(conversations);
        if unknown.is_empty() {
            return Ok(numbers);
        }
        numbers.extend(look_up(client, &unknown).await?);
        let new: Vec<&str> =
            unknown.into_iter().filter(|text| !numbers.keys().any(|id| id.as_str() == *text)).collect();
        if !new.is_empty() {
            let add = client
                .prepare_cached(include_str!("add_conversations.sql"))
                .await
                .map_err(|error| unavailable(DOING, error))?;
            client
                .execute(&add, &[&new, &(shard.get() as i16)])
                .await
                .map_err(|error| unavailable(DOING, error))?;
            numbers.extend(look_up(client, &new).await?);
        }
        Ok(numbers)
    }

    pub fn remember(&self, numbers: &HashMap<ConvId, i64>) {
        let mut remembered = self.lock();
        for (conv, number) in numbers {
            remembered.put(conv.clone(), *number);
        }
    }

    fn recall<'a>(&self, conversations: &[&'a ConvId]) -> (HashMap<ConvId, i64>, Vec<&'a str>) {
        let mut remembered = self.lock();
        let mut numbers = HashMap::with_capacity(conversations.len());
        let mut unknown = Vec::new();
        for conv in conversations {
            match remembered.get(*conv) {
                Some(number) => drop(numbers.insert((*conv).clone(), *number)),
                None => unknown.push(conv.as_str()),
            }
        }
        unknown.sort_unstable();
        unknown.dedup();
        (numbers, unknown)
    }

    fn lock(&self) -> MutexGuard<'_, LruCache<ConvId, i64>> {
        self.remembered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn look_up(client: &Client, conversations: &[&str]) -> Result<HashMap<ConvId, i64>, StoreError> {
    let statement = client
        .prepare_cached(include_str!("conversation_numbers.sql"))
        .await
        .map_err(|error| unavailable(DOING, error))?;
    let rows =
        client.query(&statement, &[&conversations]).await.map_err(|error| unavailable(DOING, error))?;
    let parsed = rows.iter().filter_map(|row| Some((ConvId::parse(row.get(0)).ok()?, row.get(1))));
    Ok(parsed.collect())
}
