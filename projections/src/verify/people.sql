-- people.sql: what is kept of the people above uid $2 up to $3 in conversation $1, a row a field; at most $4 rows.
select of_table, uid, field, value
  from (select 'member_by_conv' as of_table, m.uid, f.field, f.value
          from member_by_conv m
         cross join lateral (values ('role', m.role), ('joined_seq', m.joined_seq::text),
                                    ('joined_at', m.joined_at::text)) as f(field, value)
         where m.conv_id = $1 and m.uid > $2 and m.uid <= $3
         union all
        select 'group_read', r.uid, f.field, f.value
          from group_read r
         cross join lateral (values ('read_seq', r.read_seq::text), ('read_at', r.read_at::text),
                                    ('position', r.position::text)) as f(field, value)
         where r.conv_id = $1 and r.uid > $2 and r.uid <= $3
         union all
        select 'watermark', w.uid, f.field, f.value
          from watermark w
         cross join lateral (values ('cleared_seq', w.cleared_seq::text),
                                    ('hidden_seq', coalesce(w.hidden_seq::text, 'never'))) as f(field, value)
         where w.conv_id = $1 and w.uid > $2 and w.uid <= $3
         union all
        select 'setting', s.uid, f.field, f.value
          from setting s
         cross join lateral (values ('pinned', s.pinned::text), ('muted', s.muted::text)) as f(field, value)
         where s.conv_id = $1 and s.uid > $2 and s.uid <= $3) as kept
 limit $4
