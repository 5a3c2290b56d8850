-- skip.sql: notes an event that says nothing to this binary; the first reason stays.
insert into parked (name, generation, conv_id, shard, position, event_id, reason, parked_at)
values ($1, $2, $3, $4, $5, $6, $7, $8)
on conflict do nothing
