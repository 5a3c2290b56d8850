-- system.sql: notes which messages are the server's own, one row each.
insert into system_message (conv_id, seq)
select * from unnest($1::text[], $2::bigint[])
