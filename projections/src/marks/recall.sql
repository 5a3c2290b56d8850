-- recall.sql: labels messages as taken back, one row each.
insert into recall (conv_id, seq, by_uid, at)
select * from unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[])
