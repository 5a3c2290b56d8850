-- retained.sql: how far retention has come with a stream; at most one row.
select up_to
  from log.retained
 where stream_id = $1
