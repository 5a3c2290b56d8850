-- create_log.sql: fixes what a log is at its first start; does nothing at the later ones.
insert into log.info (log_id, epoch, shards, shard_function, bucket_size, created_at)
values ($1, 1, $2, $3, $4, $5)
    on conflict (only_one) do nothing
