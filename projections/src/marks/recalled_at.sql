-- recalled_at.sql: which of these messages are taken back; at most one row each.
select r.conv_id, r.seq, r.by_uid, r.at
  from unnest($1::text[], $2::bigint[]) as asked(conv_id, seq)
  join recall r on r.conv_id = asked.conv_id and r.seq = asked.seq
