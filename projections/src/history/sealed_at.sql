-- sealed_at.sql: these buckets, as far as they are sealed; at most one row each.
select b.conv_id, b.bucket, b.body
  from unnest($1::text[], $2::bigint[]) as asked(conv_id, bucket)
  join history_bucket b on b.conv_id = asked.conv_id and b.bucket = asked.bucket
