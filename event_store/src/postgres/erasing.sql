-- erasing.sql: the persons whose erasure has not come to its end, in the order in which they were asked for first; never
-- more than $1 rows.
select cord
  from log.erasing
 order by stream_id
 limit $1
