-- events_by_id.sql: the needed sends, keyed clears and keyed hidings that were appended before, with their bodies.
select e.stream_id, c.conv_id, e.version, e.position, e.recorded_at, e.actor, e.msg_id, e.create_at, e.event_id,
       e.correlation_id, e.client_msg_id, e.shard, e.event_type, e.schema_version, e.origin, e.msg_type, e.flags,
       e.device, e.chain, b.salt, b.bytes, d.digest
  from unnest($1::bigint[], $2::uuid[]) as n(stream_id, event_id)
  join log.event e on e.stream_id = n.stream_id and e.event_id = n.event_id and e.event_type in (1, 6, 7)
  join log.conversation c on c.conv_no = e.stream_id >> 3
  left join log.body b on b.shard = e.shard and b.position = e.position and b.recorded_at = e.recorded_at
  left join log.digest d on d.shard = e.shard and d.position = e.position
