-- eyes.sql: what these people ($2) see of conversation $1, and what they have deleted in its bucket $3; one row each.
select asked.uid, m.joined_seq, w.cleared_seq, d.bits
  from unnest($2::bigint[]) as asked(uid)
  left join member_by_conv m on m.conv_id = $1 and m.uid = asked.uid
  left join watermark w on w.conv_id = $1 and w.uid = asked.uid
  left join deleted d on d.conv_id = $1 and d.uid = asked.uid and d.bucket = $3
