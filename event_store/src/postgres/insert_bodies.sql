-- insert_bodies.sql: the bodies of one batch, if shard $1 still stands at position $2.
insert into log.body (shard, position, recorded_at, salt, bytes)
select $1, b.position, b.recorded_at, b.salt, b.bytes
  from unnest($3::bigint[], $4::bigint[], $5::bytea[], $6::bytea[]) as b(position, recorded_at, salt, bytes)
 where coalesce((select position from log.event where shard = $1 order by shard desc, position desc limit 1), 0) = $2
