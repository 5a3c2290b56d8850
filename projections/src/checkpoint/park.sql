-- park.sql: parks conversations, one row each; the first reason stays.
insert into parked (name, generation, conv_id, shard, position, event_id, reason, parked_at)
select * from unnest($1::text[], $2::int[], $3::text[], $4::int[], $5::bigint[], $6::uuid[], $7::text[], $8::bigint[])
on conflict do nothing
