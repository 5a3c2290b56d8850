-- position.sql: where one shard stands; at most one row.
select position from checkpoint where name = $1 and generation = $2 and shard = $3
