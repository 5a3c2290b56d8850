-- audience.sql: everybody who is in a conversation, ascending; never more than $2 rows.
select uid, joined_seq
  from member_by_conv
 where conv_id = $1
 order by uid
 limit $2
