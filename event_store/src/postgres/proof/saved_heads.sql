-- saved_heads.sql: the heads that gave a root, if they are kept; at most one row.
select heads
  from log.checkpoint_heads
 where shard = $1 and root = $2
