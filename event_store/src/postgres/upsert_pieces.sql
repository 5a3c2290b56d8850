-- upsert_pieces.sql: the decision state that follows from one batch, if shard $1 still stands at position $2.
insert into log.piece as p (stream_id, key, value)
select n.stream_id, n.key, n.value
  from unnest($3::bigint[], $4::text[], $5::text[]) as n(stream_id, key, value)
 where coalesce((select position from log.event where shard = $1 order by shard desc, position desc limit 1), 0) = $2
    on conflict (stream_id, key) do update set value = excluded.value
