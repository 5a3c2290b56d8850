-- join_person.sql: brings people in, one row each by person; who is in again starts anew.
insert into member_by_person (conv_id, uid, joined_seq, joined_at)
select * from unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[])
on conflict (uid, conv_id) do update
   set joined_seq = excluded.joined_seq, joined_at = excluded.joined_at
