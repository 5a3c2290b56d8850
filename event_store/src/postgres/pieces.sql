-- pieces.sql: the needed pieces of decision state that exist.
select p.stream_id, p.key, p.value
  from unnest($1::bigint[], $2::text[]) as n(stream_id, key)
  join log.piece p on p.stream_id = n.stream_id and p.key = n.key
