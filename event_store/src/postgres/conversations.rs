//! Short keys of conversations, and of the streams that are of none, remembered.

use std::{
    collections::HashMap,
    num::NonZeroUsize,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use deadpool_postgres::Client;
use lru::LruCache;

use super::{Inner, append::cords, failure::unavailable};
use crate::{
    port::{Batch, StoreError},
    shard::Shard,
};

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
    pub async fn numbers(
        &self,
        client: &Client,
        cords: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> Result<Numbers, StoreError> {
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
        cords: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> Result<Numbers, StoreError> {
        let (mut numbers, unknown) = self.recall(cords);
        if unknown.is_empty() {
            return Ok(numbers);
        }
        numbers.extend(look_up(client, &unknown).await?);
        let new: Vec<_> =
            unknown.iter().map(AsRef::as_ref).filter(|text| !numbers.contains_key(*text)).collect();
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

    /// The numbers of what is in a batch, new ones where it has events; of what is only taken for absent those that there are.
    pub async fn of_batch(&self, inner: &Inner, shard: Shard, batch: &Batch) -> Result<Numbers, StoreError> {
        let absent = || batch.absent.iter().map(|(stream, _)| stream.cord());
        let (numbers, unknown) = self.recall(cords(batch).chain(absent()));
        if unknown.is_empty() {
            return Ok(numbers);
        }
        let client = inner.client(DOING).await?;
        let mut numbers = self.numbers_or_new(&client, shard, cords(batch)).await?;
        numbers.extend(self.numbers(&client, absent()).await?);
        // Outside a transaction: they are there.
        self.remember(&numbers);
        Ok(numbers)
    }

    pub fn remember(&self, numbers: &Numbers) {
        let mut remembered = self.lock();
        for (cord, number) in numbers {
            remembered.put(Arc::clone(cord), *number);
        }
    }

    /// The numbers that are remembered, and the others' names, each once.
    fn recall<T: AsRef<str>>(&self, cords: impl IntoIterator<Item = T>) -> (Numbers, Vec<T>) {
        let mut remembered = self.lock();
        let (mut numbers, mut unknown) = (HashMap::new(), Vec::new());
        for cord in cords {
            if numbers.contains_key(cord.as_ref()) {
                continue;
            }
            match remembered.get_key_value(cord.as_ref()) {
                Some((known, number)) => drop(numbers.insert(Arc::clone(known), *number)),
                None => unknown.push(cord),
            }
        }
        unknown.sort_unstable_by(|one, other| one.as_ref().cmp(other.as_ref()));
        unknown.dedup_by(|one, other| one.as_ref() == other.as_ref());
        (numbers, unknown)
    }

    fn lock(&self) -> MutexGuard<'_, LruCache<Arc<str>, i64>> {
        self.remembered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn look_up(client: &Client, cords: &[impl AsRef<str>]) -> Result<Numbers, StoreError> {
    let cords: Vec<&str> = cords.iter().map(AsRef::as_ref).collect();
    let statement = client
        .prepare_cached(include_str!("conversation_numbers.sql"))
        .await
        .map_err(|error| unavailable(DOING, error))?;
    let rows = client.query(&statement, &[&cords]).await.map_err(|error| unavailable(DOING, error))?;
    Ok(rows.iter().map(|row| (row.get::<_, &str>(0).into(), row.get(1))).collect())
}
