-- tail_at.sql: these messages, as far as their buckets still fill; at most one row each.
select t.conv_id, t.seq, t.body
  from unnest($1::text[], $2::bigint[]) as asked(conv_id, seq)
  join history_tail t on t.conv_id = asked.conv_id and t.seq = asked.seq
