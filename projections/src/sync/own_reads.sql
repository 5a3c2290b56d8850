-- own_reads.sql: in which of these conversations viewer $3's position was raised after position $2; at most one row
-- each. The limit inside makes each a probe of the whole key, whatever was there when it was planned.
select found.conv_id
  from unnest($1::text[], $2::bigint[]) as asked(conv_id, since)
 cross join lateral (
       select conv_id, position from group_read
        where conv_id = asked.conv_id and uid = $3 limit 1) found
 where found.position > asked.since
