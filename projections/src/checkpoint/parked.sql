-- parked.sql: the conversations that are parked in one shard; as many rows as operators let stand.
select conv_id from parked where name = $1 and generation = $2 and shard = $3
