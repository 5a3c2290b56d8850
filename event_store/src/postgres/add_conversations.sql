-- add_conversations.sql: short keys for new conversations of shard $2. One that another node adds at the same
-- moment keeps the key that it has got there.
insert into log.conversation (conv_id, shard)
select n.conv_id, $2
  from unnest($1::text[]) as n(conv_id)
    on conflict (conv_id) do nothing
