-- note.sql: notes who is named where, one row each.
insert into mention (conv_id, uid, seq, sender)
select * from unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[])
