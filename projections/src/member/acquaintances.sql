-- acquaintances.sql: those of people $1 who are in one of conversations $2 now; at most one row each.
select asked.uid
  from unnest($1::bigint[]) as asked(uid)
 where exists (select from member_by_person m where m.uid = asked.uid and m.conv_id = any($2::text[]))
