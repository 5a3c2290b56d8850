-- page.sql: all that seqs $2..$3 of history $1 are shown from, for viewer $4; $5..$6 are their buckets. Messages of the
-- tail (part 0) and recalls (2): at most one row a seq; sealed buckets (1), what the viewer has deleted (3) and what is
-- erased (4): at most one row a bucket. One statement: each costs as much to begin as these rows cost to find.
select 0 as part, 1::bigint as nth, seq as number, body, null::bigint as by_uid, null::bigint as at,
       null::bit(100) as bits
  from history_tail
 where conv_id = $1 and seq between $2 and $3
union all
select 1, 1, bucket, body, null, null, null
  from history_bucket
 where conv_id = $1 and bucket between $5 and $6
union all
select 2, 1, seq, null, by_uid, at, null
  from recall
 where conv_id = $1 and seq between $2 and $3
union all
select 3, 1, bucket, null, null, null, bits
  from deleted
 where conv_id = $1 and uid = $4 and bucket between $5 and $6
union all
select 4, 1, bucket, null, null, null, bits
  from expired
 where conv_id = $1 and bucket between $5 and $6
