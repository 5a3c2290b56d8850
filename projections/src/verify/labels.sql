-- labels.sql: which of messages $2 to $3 are recalled and which are the server's own; two rows a message at most.
select 'recall', seq, 'by ' || by_uid || ' at ' || at
  from recall
 where conv_id = $1 and seq between $2 and $3
 union all
select 'system_message', seq, 'noted'
  from system_message
 where conv_id = $1 and seq between $2 and $3
