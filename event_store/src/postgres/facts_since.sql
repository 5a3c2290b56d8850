-- facts_since.sql: events of the mark and group streams of each conversation after position $2 and up to $3, but
-- sends and read positions; in the order asked, then ascending; never more than $4 rows each and $5 in all.
-- One range of the partial index event_change a stream.
select e.stream_id, e.conv_id, e.version, e.position, e.recorded_at, e.actor, e.msg_id, e.create_at, e.event_id,
       e.correlation_id, e.client_msg_id, e.shard, e.event_type, e.schema_version, e.origin, e.msg_type, e.flags,
       e.device, e.chain, b.salt, b.bytes, d.digest
  from (select f.*, a.conv_id, a.place
          from unnest($1::text[], $2::bigint[], $3::bigint[]) with ordinality as a(conv_id, after, up_to, place)
         cross join lateral (select conv_no from log.conversation where conv_id = a.conv_id limit 1) as c
         cross join lateral (
               select of_stream.*
                 from (values (1), (2)) as k(kind)
                cross join lateral (
                      select *
                        from log.event
                       where stream_id = c.conv_no * 8 + k.kind and position > a.after and position <= a.up_to
                         and event_type not in (1, 5)
                       order by stream_id, position
                       limit $4) as of_stream
                order by of_stream.position
                limit $4) as f
         limit $5) as e
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
 order by e.place, e.position
