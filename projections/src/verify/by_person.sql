-- by_person.sql: what is kept by person of people $1 and conversation $2, a row a field; three rows each at most. The
-- limits inside make each a probe of the whole key, whatever was there when it was planned.
select 'member_by_person', m.uid, f.field, f.value
  from unnest($1::bigint[]) as asked(uid)
 cross join lateral (
       select uid, joined_seq, joined_at from member_by_person
        where uid = asked.uid and conv_id = $2 limit 1) m
 cross join lateral (values ('joined_seq', m.joined_seq::text), ('joined_at', m.joined_at::text)) as f(field, value)
 union all
select 'departure', d.uid, 'position', d.position::text
  from unnest($1::bigint[]) as asked(uid)
 cross join lateral (
       select uid, position from departure
        where uid = asked.uid and conv_id = $2 limit 1) d
