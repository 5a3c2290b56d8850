-- note.sql: notes who left which group, one row each; of several times the last counts.
insert into departure as d (uid, conv_id, position)
select * from unnest($1::bigint[], $2::text[], $3::bigint[])
on conflict (uid, conv_id) do update set position = greatest(d.position, excluded.position)
