-- hold.sql: the hold on one conversation or person, by name; at most one row.
select stream_id, cord, by_uid, reason, at
  from log.hold
 where cord = $1
