-- seen.sql: when each person $1 was last seen, and whether a node other than $2 has them now: seen there within $3 ms
-- and not gone; with the moment of asking, one row each.
select asked.uid, moment.now, max(p.seen_at) as last_seen,
       coalesce(bool_or(not p.gone and p.instance <> $2 and p.seen_at > moment.now - $3::bigint), false) as online
  from unnest($1::bigint[]) as asked(uid)
 cross join (select floor(extract(epoch from statement_timestamp()) * 1000)::bigint as now) as moment
  left join presence p on p.uid = asked.uid
 group by asked.uid, moment.now
