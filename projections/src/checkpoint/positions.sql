-- positions.sql: where every shard stands; a row a shard.
select shard, position from checkpoint where name = $1 and generation = $2
