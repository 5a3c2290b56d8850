-- conversation_events.sql: events of the three streams of conversation $1 after position $2, ascending; never more
-- than $3 rows. Where each stream goes on is found by halving: some thirty index probes a stream at most.
with recursive search (stream_id, lo, hi) as (
    select c.conv_no * 8 + k.kind, 0::bigint, last.version
      from log.conversation c
     cross join generate_series(0, 2) as k(kind)
     cross join lateral (
           select version, position
             from log.event
            where stream_id = c.conv_no * 8 + k.kind
            order by stream_id desc, version desc
            limit 1) as last
     where c.conv_id = $1 and last.position > $2
    union all
    select s.stream_id,
           case when e.position > $2 then s.lo else e.version end,
           case when e.position > $2 then e.version else s.hi end
      from search s
      join log.event e on e.stream_id = s.stream_id and e.version = (s.lo + s.hi) / 2
     where s.hi - s.lo > 1
)
select e.stream_id, $1 as conv_id, e.version, e.position, e.recorded_at, e.actor, e.msg_id, e.create_at, e.event_id,
       e.correlation_id, e.client_msg_id, e.shard, e.event_type, e.schema_version, e.origin, e.msg_type, e.flags,
       e.device, e.chain, b.salt, b.bytes, d.digest
  from (select next.*
          from search s
         cross join lateral (
               select *
                 from log.event
                where stream_id = s.stream_id and version >= s.hi
                order by stream_id, version
                limit $3) as next
         where s.hi - s.lo <= 1
         order by next.position
         limit $3) as e
  left join lateral (
       select salt, bytes
         from log.body
        where shard = e.shard and position = e.position and recorded_at = e.recorded_at
        limit 1) as b on true
  left join lateral (
       select digest
         from log.digest
        where shard = e.shard and position = e.position
        limit 1) as d on true
 order by e.position
