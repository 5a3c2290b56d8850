-- activity.sql: when these conversations were last active for person $5, who joined at $2, and whether they are
-- pinned; one row each, parked ones and those that the person has hidden since the last message left out.
select h.conv_id, greatest(h.updated_at, asked.joined_at), coalesce(s.pinned, false)
  from unnest($1::text[], $2::bigint[]) as asked(conv_id, joined_at)
  join head h on h.conv_id = asked.conv_id
  left join watermark w on w.conv_id = asked.conv_id and w.uid = $5
  left join setting s on s.conv_id = asked.conv_id and s.uid = $5
 where (w.hidden_seq is null or h.max_seq > w.hidden_seq)
   and not exists (select from parked p where p.name = $3 and p.generation = $4 and p.conv_id = h.conv_id)
