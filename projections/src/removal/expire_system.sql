-- expire_system.sql: takes away which messages up to $2 are the system's own; never more than $3 rows.
delete from system_message
 where ctid = any(array(select ctid from system_message where conv_id = $1 and seq <= $2 limit $3))
