-- places.sql: all that single messages of any histories are shown from, for viewer $5: the nth of places ($1, $2) or of
-- their buckets ($3, $4). The parts are those of page.sql; of each at most one row a place or a bucket.
select 0 as part, asked.nth, t.seq as number, t.body, null::bigint as by_uid, null::bigint as at,
       null::bit(100) as bits
  from unnest($1::text[], $2::bigint[]) with ordinality as asked(conv_id, seq, nth)
  join history_tail t on t.conv_id = asked.conv_id and t.seq = asked.seq
union all
select 1, asked.nth, b.bucket, b.body, null, null, null
  from unnest($3::text[], $4::bigint[]) with ordinality as asked(conv_id, bucket, nth)
  join history_bucket b on b.conv_id = asked.conv_id and b.bucket = asked.bucket
union all
select 2, asked.nth, r.seq, null, r.by_uid, r.at, null
  from unnest($1::text[], $2::bigint[]) with ordinality as asked(conv_id, seq, nth)
  join recall r on r.conv_id = asked.conv_id and r.seq = asked.seq
union all
select 3, asked.nth, d.bucket, null, null, null, d.bits
  from unnest($3::text[], $4::bigint[]) with ordinality as asked(conv_id, bucket, nth)
  join deleted d on d.conv_id = asked.conv_id and d.bucket = asked.bucket and d.uid = $5
union all
select 4, asked.nth, e.bucket, null, null, null, e.bits
  from unnest($3::text[], $4::bigint[]) with ordinality as asked(conv_id, bucket, nth)
  join expired e on e.conv_id = asked.conv_id and e.bucket = asked.bucket
