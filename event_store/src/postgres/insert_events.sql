-- insert_events.sql: the headers of those events whose shards are locked and stand where they should. It is what moves
-- the positions.
insert into log.event (shard, stream_id, version, position, recorded_at, actor, msg_id, create_at, event_id,
                       correlation_id, client_msg_id, event_type, schema_version, origin, msg_type, flags, device,
                       chain)
select e.*
  from unnest($1::smallint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[],
              $8::bigint[], $9::uuid[], $10::uuid[], $11::uuid[], $12::smallint[], $13::smallint[], $14::smallint[],
              $15::smallint[], $16::smallint[], $17::text[], $18::bytea[])
    as e(shard, stream_id, version, position, recorded_at, actor, msg_id, create_at, event_id, correlation_id,
         client_msg_id, event_type, schema_version, origin, msg_type, flags, device, chain)
 where e.shard = any ((select current_setting('quipu.shards')::smallint[])::smallint[])
