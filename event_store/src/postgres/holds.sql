-- holds.sql: the holds that stand, on conversations and persons, after name $1, ascending; never more than $2 rows.
select stream_id, cord, by_uid, reason, at
  from log.hold
 where cord > $1
 order by cord
 limit $2
