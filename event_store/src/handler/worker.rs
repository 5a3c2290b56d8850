//! Being written.
use std::sync::{Arc, Weak};
use crate::{port::EventStore, shard::Shard, surroundings::Surroundings};
use super::queue::Queue;
pub(super) async fn run(_: Shard, _: Arc<dyn EventStore>, _: Surroundings, _: Weak<Queue>) {}
