-- raise.sql: raises clear-history watermarks, one row a person; a lower one changes nothing.
insert into watermark as w (conv_id, uid, cleared_seq)
select * from unnest($1::text[], $2::bigint[], $3::bigint[])
on conflict (conv_id, uid) do update set cleared_seq = excluded.cleared_seq
 where excluded.cleared_seq > w.cleared_seq
