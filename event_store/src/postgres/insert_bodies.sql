-- insert_bodies.sql: the bodies of those events whose shards are locked and stand where they should.
insert into log.body (shard, position, recorded_at, salt, bytes)
select b.*
  from unnest($1::smallint[], $2::bigint[], $3::bigint[], $4::bytea[], $5::bytea[])
    as b(shard, position, recorded_at, salt, bytes)
 where b.shard = any ((select current_setting('quipu.shards')::smallint[])::smallint[])
