-- positions.sql: how far the members after uid $2 have read, ascending; never more than $3 rows.
select m.uid, coalesce(r.read_seq, 0), coalesce(r.read_at, 0)
  from member_by_conv m
  left join group_read r on r.conv_id = m.conv_id and r.uid = m.uid
 where m.conv_id = $1 and m.uid > $2
 order by m.uid
 limit $3
