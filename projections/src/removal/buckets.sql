-- buckets.sql: these buckets, as far as they are sealed; at most one row each.
select bucket, body
  from history_bucket
 where conv_id = $1 and bucket = any($2::bigint[])
