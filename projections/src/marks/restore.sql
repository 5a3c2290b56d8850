-- restore.sql: unsets bits of the bitmaps that are there, one row a viewer and bucket.
update deleted d
   set bits = d.bits & ~flip.bits
  from unnest($1::text[], $2::bigint[], $3::bigint[], $4::bit(100)[]) as flip(conv_id, uid, bucket, bits)
 where d.conv_id = flip.conv_id and d.uid = flip.uid and d.bucket = flip.bucket
