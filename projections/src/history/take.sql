-- take.sql: takes the rows of filling buckets out of the tail and returns them; at most 99 a bucket.
delete from history_tail t
 using unnest($1::text[], $2::bigint[], $3::bigint[]) as filled(conv_id, first, last)
 where t.conv_id = filled.conv_id and t.seq between filled.first and filled.last
returning t.conv_id, t.seq, t.body
