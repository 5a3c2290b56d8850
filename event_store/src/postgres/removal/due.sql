-- due.sql: the months that are to be written anew, in order, but for those of which all that is to go was left because of
-- the holds $1; as many as the log has at most.
select from_ms
  from log.rewrite
 where spared_by is distinct from $1
 order by from_ms
