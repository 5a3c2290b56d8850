-- leave_conv.sql: takes people out, one row each by conversation.
delete from member_by_conv m
 using unnest($1::text[], $2::bigint[]) as gone(conv_id, uid)
 where m.conv_id = gone.conv_id and m.uid = gone.uid
