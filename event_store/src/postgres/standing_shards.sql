-- standing_shards.sql: which of the shards $1 that are locked still stand at positions $2 and have none of the events
-- $5 in streams $4 (of shards $3); names them to the statements that append. One row.
select shards, set_config('quipu.shards', shards::text, true)
  from (select coalesce(array_agg(s.shard), '{}') as shards
          from unnest($1::smallint[], $2::bigint[]) as s(shard, seen)
         where s.shard = any ((select current_setting('quipu.shards')::smallint[])::smallint[])
           and coalesce((select position from log.event where shard = s.shard order by shard desc, position desc limit 1), 0)
               = s.seen
           and s.shard <> all (array(
               select n.shard
                 from unnest($3::smallint[], $4::bigint[], $5::uuid[]) as n(shard, stream_id, event_id)
                cross join lateral (
                      select from log.event
                       where stream_id = n.stream_id and event_id = n.event_id and event_type in (1, 6)
                       limit 1) there))) standing
