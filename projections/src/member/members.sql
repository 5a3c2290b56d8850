-- members.sql: the members after uid $2, ascending; never more than $3 rows.
select uid, role, joined_seq
  from member_by_conv
 where conv_id = $1 and uid > $2
 order by uid
 limit $3
