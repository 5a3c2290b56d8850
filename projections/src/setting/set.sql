-- set.sql: how people want conversations in their lists, one row each; the last word counts.
insert into setting as s (conv_id, uid, pinned, muted)
select * from unnest($1::text[], $2::bigint[], $3::boolean[], $4::boolean[])
on conflict (conv_id, uid) do update set pinned = excluded.pinned, muted = excluded.muted
