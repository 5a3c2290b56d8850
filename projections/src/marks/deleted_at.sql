-- deleted_at.sql: what one viewer has deleted in these buckets; at most one row each. The limit inside makes each a probe
-- of the whole key, whatever was there when it was planned.
select found.conv_id, found.bucket, found.bits
  from unnest($1::text[], $2::bigint[]) as asked(conv_id, bucket)
 cross join lateral (
       select conv_id, bucket, bits from deleted
        where conv_id = asked.conv_id and uid = $3 and bucket = asked.bucket limit 1) found
