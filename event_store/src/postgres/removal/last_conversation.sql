-- last_conversation.sql: the highest short key that was given; one row.
select coalesce(max(conv_no), 0)
  from log.conversation
