-- upsert_pieces.sql: the decision state of those shards that are locked and stand where they should.
insert into log.piece as p (stream_id, key, value)
select n.stream_id, n.key, n.value
  from unnest($1::smallint[], $2::bigint[], $3::text[], $4::text[]) as n(shard, stream_id, key, value)
 where n.shard = any ((select current_setting('quipu.shards')::smallint[])::smallint[])
    on conflict (stream_id, key) do update set value = excluded.value
