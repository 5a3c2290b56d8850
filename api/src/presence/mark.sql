-- mark.sql: each person $1 is seen at node $2 at this moment, or has gone from there ($3); one row each.
insert into presence as p (uid, instance, seen_at, gone)
select uid, $2, floor(extract(epoch from statement_timestamp()) * 1000)::bigint, $3
  from unnest($1::bigint[]) as uid
    on conflict (uid, instance) do update set seen_at = excluded.seen_at, gone = excluded.gone
