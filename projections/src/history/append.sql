-- append.sql: adds messages to filling buckets, one row each.
insert into history_tail (conv_id, seq, body)
select * from unnest($1::text[], $2::bigint[], $3::bytea[])
