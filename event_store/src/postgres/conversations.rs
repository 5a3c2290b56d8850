//! Short keys of conversations, and of the streams that are of none, remembered.

use std::{
    collections::HashMap,
    num::NonZeroUsize,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use deadpool_postgres::Client;
use lru::LruCache;

use super::failure::unavailable;
use crate::{port::StoreError, shard::Shard};

/// Short keys that are remembered, about 100 bytes each.
const REMEMBERED_MAX: NonZeroUsize = NonZeroUsize::new(65_536).unwrap();

const DOING: &str = "look up conversations";

/// Short keys by the names that they stand for, see [`StreamName::cord`](crate::StreamName::cord).
pub(super) type Numbers = HashMap<Arc<str>, i64>;

pub(super) struct Conversations {
    remembered: Mutex<LruCache<Arc<str>, i64>>,
}

impl Conversations {
    pub fn new() -> Self {
        Self { remembered: Mutex::new(LruCache::new(REMEMBERED_MAX)) }
    }

    /// The numbers of those that have one.
    pub async fn numbers(&self, client: &Client, cords: &[impl AsRef<str>]) -> Result<Numbers, StoreError> {
        let (mut numbers, unknown) = self.recall(cords);
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
        cords: &[impl AsRef<str>],
    ) -> Result<Numbers, StoreError> {
        let (mut numbers, unknown) = self.recall(cords);
        if unknown.is_empty() {
            return Ok(numbers);
        }
        numbers.extend(look_up(client, &unknown).await?);
        let new: Vec<&str> = unknown.into_iter().filter(|text| !numbers.contains_key(*text)).collect();
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

    pub fn remember(&self, numbers: &Numbers) {
        let mut remembered = self.lock();
        for (cord, number) in numbers {
            remembered.put(Arc::clone(cord), *number);
        }
    }

    fn recall<'a>(&self, cords: &'a [impl AsRef<str>]) -> (Numbers, Vec<&'a str>) {
        let mut remembered = self.lock();
        let mut numbers = HashMap::with_capacity(cords.len());
        let mut unknown = Vec::new();
        for cord in cords.iter().map(AsRef::as_ref) {
            match remembered.get_key_value(cord) {
                Some((cord, number)) => drop(numbers.insert(Arc::clone(cord), *number)),
                None => unknown.push(cord),
            }
        }
        unknown.sort_unstable();
        unknown.dedup();
        (numbers, unknown)
    }

    fn lock(&self) -> MutexGuard<'_, LruCache<Arc<str>, i64>> {
        self.remembered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn look_up(client: &Client, cords: &[&str]) -> Result<Numbers, StoreError> {
    let statement = client
        .prepare_cached(include_str!("conversation_numbers.sql"))
        .await
        .map_err(|error| unavailable(DOING, error))?;
    let rows = client.query(&statement, &[&cords]).await.map_err(|error| unavailable(DOING, error))?;
    Ok(rows.iter().map(|row| (row.get::<_, &str>(0).into(), row.get(1))).collect())
}
