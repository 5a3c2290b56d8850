-- expire_buckets.sql: takes away the sealed buckets that lie wholly up to $2; never more than $3 rows.
delete from history_bucket
 where ctid = any(array(select ctid from history_bucket where conv_id = $1 and bucket < $2::bigint / 100 limit $3))
