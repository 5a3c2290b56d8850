-- raise.sql: raises what people have cleared and hidden, one row a person; lower ones change nothing.
insert into watermark as w (conv_id, uid, cleared_seq, hidden_seq)
select * from unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[])
on conflict (conv_id, uid) do update
   set cleared_seq = greatest(w.cleared_seq, excluded.cleared_seq),
       hidden_seq = greatest(w.hidden_seq, excluded.hidden_seq)
 where excluded.cleared_seq > w.cleared_seq or excluded.hidden_seq > coalesce(w.hidden_seq, -1)
