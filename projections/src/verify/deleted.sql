-- deleted.sql: who has deleted what, after uid $2 and bucket $3, ascending; never more than $4 rows.
select uid, bucket, bits
  from deleted
 where conv_id = $1 and (uid, bucket) > ($2, $3)
 order by uid, bucket
 limit $4
