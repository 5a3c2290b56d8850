-- expire_labels.sql: takes away what is erased of buckets that lie wholly up to $2; never more than $3 rows.
delete from expired
 where ctid = any(array(select ctid from expired where conv_id = $1 and bucket < $2::bigint / 100 limit $3))
