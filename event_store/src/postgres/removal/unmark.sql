-- unmark.sql: nothing is to go any more in the month that begins at $1.
delete from log.rewrite
 where from_ms = $1
