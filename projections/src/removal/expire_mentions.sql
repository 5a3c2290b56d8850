-- expire_mentions.sql: takes away who is named in messages up to $2; never more than $3 rows.
delete from mention
 where ctid = any(array(select ctid from mention where conv_id = $1 and seq <= $2 limit $3))
