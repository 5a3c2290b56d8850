-- replace_buckets.sql: puts these in the place of sealed buckets, one row each.
update history_bucket b
   set body = n.body
  from unnest($2::bigint[], $3::bytea[]) as n(bucket, body)
 where b.conv_id = $1 and b.bucket = n.bucket
