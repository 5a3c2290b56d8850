-- read_shard.sql: events of one shard after position $2, ascending and complete; never more than $3 rows.
select e.stream_id, c.conv_id, e.version, e.position, e.recorded_at, e.actor, e.msg_id, e.create_at, e.event_id,
       e.correlation_id, e.client_msg_id, e.shard, e.event_type, e.schema_version, e.origin, e.msg_type, e.flags,
       e.device, e.chain, b.salt, b.bytes, d.digest
  from log.event e
  join log.conversation c on c.conv_no = e.stream_id >> 3
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
 where e.shard = $1 and e.position > $2 and e.position <= $2 + $3
 order by e.shard, e.position
