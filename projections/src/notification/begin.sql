-- begin.sql: gives the shard of the log's own streams its row, once.
insert into checkpoint (name, generation, shard, position)
values ($1, $2, $3, 0)
on conflict do nothing
