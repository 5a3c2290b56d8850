-- newest.sql: the newest message of $2..$3 that is not erased and that viewer $4 has not deleted; at most one row a
-- conversation.
-- Goes down bucket by bucket, only past those of which nothing is left: one probe for a hundred messages. The last 0 of
-- a bitmap's first n bits is the newest of its n messages that is left.
select asked.conv_id, found.seq
  from unnest($1::text[], $2::bigint[], $3::bigint[]) as asked(conv_id, min_seq, max_seq)
 cross join lateral (
       with recursive look(bucket, seq) as (
           select (asked.max_seq - 1) / 100 + 1, null::bigint
           union all
           select look.bucket - 1, (look.bucket - 1) * 100 + nullif(slots.kept, 0)
             from look
             left join deleted d on d.conv_id = asked.conv_id and d.uid = $4 and d.bucket = look.bucket - 1
             left join expired e on e.conv_id = asked.conv_id and e.bucket = look.bucket - 1
            cross join lateral (select least(asked.max_seq - (look.bucket - 1) * 100, 100)::int as filled,
                                       coalesce(d.bits | e.bits, d.bits, e.bits, repeat('0', 100)::bit(100)) as gone) here
            cross join lateral (select length(rtrim(left(here.gone::text, here.filled), '1')) as kept) slots
            where look.seq is null and look.bucket - 1 >= (asked.min_seq - 1) / 100
       )
       select look.seq from look where look.seq >= asked.min_seq) found
 where asked.max_seq >= asked.min_seq
