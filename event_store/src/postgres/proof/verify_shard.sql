-- verify_shard.sql: what a shard's order and its checkpoints rest on, after position $2 and up to $3, ascending; never
-- more than $4 rows.
select e.position, e.recorded_at, e.stream_id, e.version, e.chain
  from log.event e
 where e.shard = $1 and e.position > $2 and e.position <= $3
 order by e.shard, e.position
 limit $4
