-- activity.sql: the first $6 of these conversations in the order of person $5's list, after the place ($7, $8, $9) if
-- there is one: pinned ones, then the newest activity (the person joined at $2), then by id; parked ones and those that
-- the person has hidden since the last message left out. The limit inside keeps heads from being walked in their order.
select place.conv_id, place.at, place.pinned
  from unnest($1::text[], $2::bigint[]) as asked(conv_id, joined_at)
 cross join lateral (
       select conv_id, max_seq, updated_at from head
        where conv_id = asked.conv_id limit 1) h
  left join watermark w on w.conv_id = asked.conv_id and w.uid = $5
  left join setting s on s.conv_id = asked.conv_id and s.uid = $5
 cross join lateral (
       select h.conv_id, greatest(h.updated_at, asked.joined_at) as at, coalesce(s.pinned, false) as pinned) place
 where (w.hidden_seq is null or h.max_seq > w.hidden_seq)
   and h.conv_id not in (select conv_id from parked where name = $3 and generation = $4)
   and ($7::boolean is null
        or place.pinned < $7
        or place.pinned = $7 and (place.at < $8::bigint or place.at = $8 and place.conv_id > $9::text))
 order by place.pinned desc, place.at desc, place.conv_id
 limit $6::bigint
