-- expired.sql: the short keys of these conversations, and up to where retention has let each expire; one row each that
-- has a key.
select c.conv_no, coalesce((p.value::json ->> 'expired_seq')::bigint, 0)
  from log.conversation c
  left join log.piece p on p.stream_id = c.conv_no * 8 + 1 and p.key = $2
 where c.conv_id = any($1::text[])
