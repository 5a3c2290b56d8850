-- weigh.sql: how many messages of conversation $1 after $2 and up to $3 have their bodies in the log, and how many bytes
-- these are; one row.
select count(*), coalesce(sum(octet_length(b.bytes)), 0)::bigint
  from log.conversation c
  join log.event e on e.stream_id = c.conv_no * 8 and e.version > $2 and e.version <= $3
  join log.body b on b.shard = e.shard and b.position = e.position and b.recorded_at = e.recorded_at
 where c.conv_id = $1
   and not exists (select from log.digest d where d.shard = e.shard and d.position = e.position)
