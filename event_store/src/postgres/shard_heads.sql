-- shard_heads.sql: where every shard below $1 stands; no row for an empty one. One index probe a shard.
select s.shard, last.position, last.recorded_at
  from generate_series(0, $1::int - 1) as s(shard)
 cross join lateral (
       select position, recorded_at
         from log.event
        where shard = s.shard::smallint
        order by shard desc, position desc
        limit 1) as last
