-- blank_tail.sql: empties these messages, as far as their bucket still fills, and returns what they were; at most
-- 99 rows.
with old as (
    select seq, body
      from history_tail
     where conv_id = $1 and seq = any($2::bigint[]) and body <> ''
       for update
)
update history_tail t
   set body = ''
  from old
 where t.conv_id = $1 and t.seq = old.seq
returning old.seq, old.body
