-- own_reads.sql: in which of these conversations viewer $3's position was raised after position $2; at most one row
-- each.
select r.conv_id
  from unnest($1::text[], $2::bigint[]) as asked(conv_id, since)
  join group_read r on r.conv_id = asked.conv_id and r.uid = $3
 where r.position > asked.since
