-- places.sql: all that single messages of any histories are shown from, for viewer $5: the nth of places ($1, $2) or of
-- their buckets ($3, $4). The parts are those of page.sql; of each at most one row a place or a bucket. Each probes its
-- key inside of a limit: planned while there were no marks, some would walk through everything that a viewer has deleted.
select 0 as part, asked.nth, found.*, null::bigint as by_uid, null::bigint as at, null::bit(100) as bits
  from unnest($1::text[], $2::bigint[]) with ordinality as asked(conv_id, seq, nth)
 cross join lateral (
       select seq as number, body from history_tail
        where conv_id = asked.conv_id and seq = asked.seq limit 1) found
union all
select 1, asked.nth, found.*, null, null, null
  from unnest($3::text[], $4::bigint[]) with ordinality as asked(conv_id, bucket, nth)
 cross join lateral (
       select bucket, body from history_bucket
        where conv_id = asked.conv_id and bucket = asked.bucket limit 1) found
union all
select 2, asked.nth, found.seq, null, found.by_uid, found.at, null
  from unnest($1::text[], $2::bigint[]) with ordinality as asked(conv_id, seq, nth)
 cross join lateral (
       select seq, by_uid, at from recall
        where conv_id = asked.conv_id and seq = asked.seq limit 1) found
union all
select 3, asked.nth, found.bucket, null, null, null, found.bits
  from unnest($3::text[], $4::bigint[]) with ordinality as asked(conv_id, bucket, nth)
 cross join lateral (
       select bucket, bits from deleted
        where conv_id = asked.conv_id and uid = $5 and bucket = asked.bucket limit 1) found
union all
select 4, asked.nth, found.bucket, null, null, null, found.bits
  from unnest($3::text[], $4::bigint[]) with ordinality as asked(conv_id, bucket, nth)
 cross join lateral (
       select bucket, bits from expired
        where conv_id = asked.conv_id and bucket = asked.bucket limit 1) found
