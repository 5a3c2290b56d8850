-- reads.sql: whose positions in these small conversations were raised after position $2; at most one row a member.
select r.conv_id, r.uid, r.read_seq, r.read_at
  from unnest($1::text[], $2::bigint[]) as asked(conv_id, since)
  join member_by_conv m on m.conv_id = asked.conv_id
  join group_read r on r.conv_id = m.conv_id and r.uid = m.uid
 where r.position > asked.since
