-- append.sql: keeps what was told, one row each.
insert into notification (id, category, content, at)
select * from unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[])
