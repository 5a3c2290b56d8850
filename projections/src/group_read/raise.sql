-- raise.sql: raises read positions, one row a member; a lower one changes nothing.
insert into group_read as g (conv_id, uid, read_seq, read_at, position)
select * from unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[])
on conflict (conv_id, uid) do update
   set read_seq = greatest(g.read_seq, excluded.read_seq), read_at = excluded.read_at,
       position = excluded.position
 where excluded.read_seq > g.read_seq
