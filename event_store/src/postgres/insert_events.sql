-- insert_events.sql: the headers of one batch, if shard $1 still stands at position $2. Runs last in its
-- transaction: it is what moves the position.
insert into log.event (shard, stream_id, version, position, recorded_at, actor, msg_id, create_at, event_id,
                       correlation_id, client_msg_id, event_type, schema_version, origin, msg_type, flags, device,
                       chain)
select $1, e.*
  from unnest($3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[],
              $10::uuid[], $11::uuid[], $12::uuid[], $13::smallint[], $14::smallint[], $15::smallint[],
              $16::smallint[], $17::smallint[], $18::text[], $19::bytea[])
    as e(stream_id, version, position, recorded_at, actor, msg_id, create_at, event_id, correlation_id,
         client_msg_id, event_type, schema_version, origin, msg_type, flags, device, chain)
 where coalesce((select position from log.event where shard = $1 order by shard desc, position desc limit 1), 0) = $2
