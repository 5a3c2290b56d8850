-- leave_person.sql: takes people out, one row each by person.
delete from member_by_person m
 using unnest($1::text[], $2::bigint[]) as gone(conv_id, uid)
 where m.conv_id = gone.conv_id and m.uid = gone.uid
