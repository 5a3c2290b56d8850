-- last_stream.sql: the highest stream_id that has an event; no row in an empty log.
select stream_id
  from log.event
 order by stream_id desc, version desc
 limit 1
