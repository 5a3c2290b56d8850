-- conversation_position.sql: the position of a conversation's last event; null where there is none.
-- One index probe a stream.
select max(last.position)
  from log.conversation c
 cross join generate_series(0, 2) as k(kind)
 cross join lateral (
       select position
         from log.event
        where stream_id = c.conv_no * 8 + k.kind
        order by stream_id desc, version desc
        limit 1) as last
 where c.conv_id = $1
