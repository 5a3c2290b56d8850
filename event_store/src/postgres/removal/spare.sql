-- spare.sql: what is still to go in the month that begins at $1 is spared by the holds $2.
update log.rewrite
   set spared_by = $2
 where from_ms = $1
