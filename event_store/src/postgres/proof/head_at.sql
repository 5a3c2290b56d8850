-- head_at.sql: the last event of stream $1 that is not above position $2; no row where there is none. Reads on only
-- over what came after that position.
select version, position, chain
  from log.event
 where stream_id = $1 and position <= $2
 order by stream_id desc, version desc
 limit 1
