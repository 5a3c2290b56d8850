-- version_at_most.sql: the last event of stream $1 whose version is not above $2; no row where there is none. One index
-- probe.
select version, position, chain
  from log.event
 where stream_id = $1 and version <= $2
 order by stream_id desc, version desc
 limit 1
