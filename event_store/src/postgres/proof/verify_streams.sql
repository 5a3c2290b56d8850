-- verify_streams.sql: events after version $2 of stream $1, and of the streams above it but below $3, stream by stream
-- and ascending, with whatever is there of their bodies and names; never more than $4 rows.
select e.stream_id, c.conv_id, e.version, e.position, e.recorded_at, e.actor, e.msg_id, e.create_at, e.event_id,
       e.correlation_id, e.client_msg_id, e.shard, e.event_type, e.schema_version, e.origin, e.msg_type, e.flags,
       e.device, e.chain, b.salt, b.bytes, d.digest
  from log.event e
  left join log.conversation c on c.conv_no = e.stream_id >> 3
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
 where (e.stream_id, e.version) > ($1, $2) and e.stream_id < $3
 order by e.stream_id, e.version
 limit $4
