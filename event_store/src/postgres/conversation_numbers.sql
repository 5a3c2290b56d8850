-- conversation_numbers.sql: the short keys of the conversations that have one.
select c.conv_id, c.conv_no
  from log.conversation c
 where c.conv_id = any($1::text[])
