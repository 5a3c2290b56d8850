-- by_person.sql: what is kept by person of people $1 and conversation $2, a row a field; three rows each at most.
select 'member_by_person', m.uid, f.field, f.value
  from unnest($1::bigint[]) as asked(uid)
  join member_by_person m on m.uid = asked.uid and m.conv_id = $2
 cross join lateral (values ('joined_seq', m.joined_seq::text), ('joined_at', m.joined_at::text)) as f(field, value)
 union all
select 'departure', d.uid, 'position', d.position::text
  from unnest($1::bigint[]) as asked(uid)
  join departure d on d.uid = asked.uid and d.conv_id = $2
