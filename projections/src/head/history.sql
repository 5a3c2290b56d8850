-- history.sql: what the members of a group see and what has expired; at most one row.
select history, expired_seq
  from head
 where conv_id = $1
