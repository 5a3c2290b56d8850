-- shard_head.sql: where a shard stands; no row for an empty one. One index probe.
select position, recorded_at
  from log.event
 where shard = $1
 order by shard desc, position desc
 limit 1
