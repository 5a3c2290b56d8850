//! Being written.
use crate::{port::*, shard::Shard, surroundings::Surroundings};
pub(crate) async fn append(_: Box<dyn Turn + '_>, _: Shard, _: Vec<Append>, _: &Surroundings) -> Result<Vec<Result<Appended, AppendError>>, StoreError> { Ok(vec![]) }
