-- expire_deleted.sql: takes away the viewers' bitmaps of buckets that lie wholly up to $2; never more than $3 rows.
delete from deleted
 where ctid = any(array(select ctid from deleted where conv_id = $1 and bucket < $2::bigint / 100 limit $3))
