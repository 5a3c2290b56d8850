-- message_by_id.sql: the message with id $1; at most one row. The index of msg_ids is one of ranges of pages, so this
-- reads some hundred pages.
select e.stream_id, c.conv_id, e.version, e.position, e.recorded_at, e.actor, e.msg_id, e.create_at, e.event_id,
       e.correlation_id, e.client_msg_id, e.shard, e.event_type, e.schema_version, e.origin, e.msg_type, e.flags,
       e.device, e.chain, b.salt, b.bytes, d.digest
  from (select * from log.event where msg_id = $1 limit 1) as e
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
