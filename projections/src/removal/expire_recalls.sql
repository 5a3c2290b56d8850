-- expire_recalls.sql: takes away which messages up to $2 were taken back; never more than $3 rows.
delete from recall
 where ctid = any(array(select ctid from recall where conv_id = $1 and seq <= $2 limit $3))
