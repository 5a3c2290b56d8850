-- tail.sql: the tail's part of a range, ascending; never more than $4 rows.
select conv_id, seq, body
  from history_tail
 where conv_id = $1 and seq between $2 and $3
 order by seq
 limit $4
