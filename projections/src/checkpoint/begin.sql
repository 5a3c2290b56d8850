-- begin.sql: gives each of the $3 shards its row, once.
insert into checkpoint (name, generation, shard, position)
select $1, $2, shard, 0 from generate_series(0, $3 - 1) as shard
on conflict do nothing
