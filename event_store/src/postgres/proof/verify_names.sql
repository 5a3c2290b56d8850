-- verify_names.sql: the names behind short keys; a row for each of $1 that has one.
select c.conv_no, c.conv_id
  from unnest($1::bigint[]) as n(conv_no)
 cross join lateral (select conv_no, conv_id from log.conversation where conv_no = n.conv_no limit 1) as c
