-- expired_at.sql: what is erased in these buckets; at most one row each.
select e.conv_id, e.bucket, e.bits
  from unnest($1::text[], $2::bigint[]) as asked(conv_id, bucket)
  join expired e on e.conv_id = asked.conv_id and e.bucket = asked.bucket
