-- note.sql: notes how the building of a generation goes; at most one row.
update generation
   set phase = $3, events = events + $4, differing = $5, differences = $6, failure = $7
 where name = $1 and number = $2
