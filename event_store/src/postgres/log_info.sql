-- log_info.sql: what was fixed when the log was created.
select log_id, epoch, shards, shard_function, bucket_size
  from log.info
