-- readers.sql: the members after uid $4 who may see message $2, but its sender $3; never more than $5 rows.
select m.uid, coalesce(r.read_seq, 0) >= $2
  from member_by_conv m
  join head h on h.conv_id = m.conv_id
  left join watermark w on w.conv_id = m.conv_id and w.uid = m.uid
  left join group_read r on r.conv_id = m.conv_id and r.uid = m.uid
 where m.conv_id = $1 and m.uid > $4 and m.uid <> $3
   and $2 > greatest(w.cleared_seq, h.expired_seq, case when h.history = 'joined' then m.joined_seq end)
 order by m.uid
 limit $5
