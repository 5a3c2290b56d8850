-- bodies_at.sql: these messages of a stream ($2, at most 256) as far as their bodies are there and not to go yet, with
-- the month that each lies in.
select e.shard, e.position, b.salt, b.bytes,
       (extract(epoch from date_trunc('month', to_timestamp(e.recorded_at / 1000) at time zone 'UTC')) * 1000)::bigint as month
  from log.event e
 cross join lateral (
       select salt, bytes
         from log.body
        where shard = e.shard and position = e.position and recorded_at = e.recorded_at
        limit 1) as b
 where e.stream_id = $1 and e.version = any($2::bigint[]) and e.event_type = 1
   and not exists (select from log.digest d where d.shard = e.shard and d.position = e.position)
