-- raise.sql: raises conversation heads, one row each; seq and activity only go up.
insert into head as h (conv_id, kind, name, history, max_seq, updated_at)
select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[])
on conflict (conv_id) do update
   set name = coalesce(excluded.name, h.name),
       history = coalesce(excluded.history, h.history),
       max_seq = greatest(h.max_seq, excluded.max_seq),
       updated_at = greatest(h.updated_at, excluded.updated_at)
