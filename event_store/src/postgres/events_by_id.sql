-- events_by_id.sql: the needed sends, keyed clears and keyed hidings that were appended before, with their bodies.
-- Lateral, so that each is probed in the index, whatever the planner believes of an empty table.
select e.stream_id, c.conv_id, e.version, e.position, e.recorded_at, e.actor, e.msg_id, e.create_at, e.event_id,
       e.correlation_id, e.client_msg_id, e.shard, e.event_type, e.schema_version, e.origin, e.msg_type, e.flags,
       e.device, e.chain, b.salt, b.bytes, d.digest
  from unnest($1::bigint[], $2::uuid[]) as n(stream_id, event_id)
 cross join lateral (
       select *
         from log.event
        where stream_id = n.stream_id and event_id = n.event_id and event_type in (1, 6, 7)
        limit 1) as e
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
