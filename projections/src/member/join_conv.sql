-- join_conv.sql: brings people in, one row each by conversation; who is in again starts anew.
insert into member_by_conv (conv_id, uid, role, joined_seq, joined_at)
select * from unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[], $5::bigint[])
on conflict (conv_id, uid) do update
   set role = excluded.role, joined_seq = excluded.joined_seq, joined_at = excluded.joined_at
