-- first_mention.sql: the first message above $2 that names viewer $3 or everybody, not recalled, not erased, not deleted
-- by the viewer, not the viewer's own; at most one row a conversation.
select asked.conv_id, named.seq
  from unnest($1::text[], $2::bigint[]) as asked(conv_id, above)
 cross join lateral (
       select min(first.seq) as seq
         from (values ($3::bigint), (0)) as whom(uid)
        cross join lateral (
              select m.seq
                from mention m
               where m.conv_id = asked.conv_id and m.uid = whom.uid and m.seq > asked.above and m.sender <> $3
                 and not exists (select from recall r where r.conv_id = m.conv_id and r.seq = m.seq)
                 and not exists (select from deleted d
                                  where d.conv_id = m.conv_id and d.uid = $3 and d.bucket = (m.seq - 1) / 100
                                    and get_bit(d.bits, ((m.seq - 1) % 100)::int) = 1)
                 and not exists (select from expired e
                                  where e.conv_id = m.conv_id and e.bucket = (m.seq - 1) / 100
                                    and get_bit(e.bits, ((m.seq - 1) % 100)::int) = 1)
               order by m.seq
               limit 1) first) named
 where named.seq is not null
