-- deleted_at.sql: what one viewer has deleted in these buckets; at most one row each.
select d.conv_id, d.bucket, d.bits
  from unnest($1::text[], $2::bigint[]) as asked(conv_id, bucket)
  join deleted d on d.conv_id = asked.conv_id and d.bucket = asked.bucket and d.uid = $3
