-- head.sql: a conversation's own facts, a row a field; nine rows at most.
select f.field, f.value
  from head h
 cross join lateral (values ('kind', h.kind), ('name', h.name), ('history', h.history),
                            ('max_seq', h.max_seq::text), ('expired_seq', h.expired_seq::text),
                            ('updated_at', h.updated_at::text), ('mute_all', h.mute_all::text),
                            ('invite', h.invite), ('dissolved', h.dissolved::text)) as f(field, value)
 where h.conv_id = $1 and f.value is not null
