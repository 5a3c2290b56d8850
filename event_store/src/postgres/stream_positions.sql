-- stream_positions.sql: the last positions of each conversation's message, mark and group stream, null where there
-- is none; no row for a conversation without events. One index probe a stream.
select a.place,
       (select position from log.event where stream_id = c.conv_no * 8
         order by stream_id desc, version desc limit 1),
       (select position from log.event where stream_id = c.conv_no * 8 + 1
         order by stream_id desc, version desc limit 1),
       (select position from log.event where stream_id = c.conv_no * 8 + 2
         order by stream_id desc, version desc limit 1)
  from unnest($1::text[]) with ordinality as a(conv_id, place)
 cross join lateral (select conv_no from log.conversation where conv_id = a.conv_id limit 1) as c
