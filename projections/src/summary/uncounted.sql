-- uncounted.sql: how many messages above $2 are never unread for viewer $3, each counted once; one row a conversation.
-- Recalled ones and the system's own, then what the viewer has deleted and what is erased: slot n of a bitmap is its n-th
-- bit from the left, so shifting drops what is not above. Own messages are never above one's read position.
select asked.conv_id,
       (select count(*)
          from (select r.seq from recall r where r.conv_id = asked.conv_id and r.seq > asked.above
                union
                select s.seq from system_message s where s.conv_id = asked.conv_id and s.seq > asked.above) label
         where not exists (select from deleted d
                            where d.conv_id = asked.conv_id and d.uid = $3 and d.bucket = (label.seq - 1) / 100
                              and get_bit(d.bits, ((label.seq - 1) % 100)::int) = 1)
           and not exists (select from expired e
                            where e.conv_id = asked.conv_id and e.bucket = (label.seq - 1) / 100
                              and get_bit(e.bits, ((label.seq - 1) % 100)::int) = 1))
     + (select coalesce(sum(bit_count(case d.bucket when asked.above / 100
                                           then d.bits << (asked.above % 100)::int
                                           else d.bits end)), 0)::bigint
          from deleted d
         where d.conv_id = asked.conv_id and d.uid = $3 and d.bucket >= asked.above / 100)
     + (select coalesce(sum(bit_count(case e.bucket when asked.above / 100
                                           then own.bits << (asked.above % 100)::int
                                           else own.bits end)), 0)::bigint
          from expired e
          left join deleted d on d.conv_id = e.conv_id and d.uid = $3 and d.bucket = e.bucket
         cross join lateral (select e.bits & ~coalesce(d.bits, repeat('0', 100)::bit(100)) as bits) own
         where e.conv_id = asked.conv_id and e.bucket >= asked.above / 100)
  from unnest($1::text[], $2::bigint[]) as asked(conv_id, above)
