-- departures.sql: which groups person $1 has ever left, after conversation $2, ascending; never more than $3 rows.
select conv_id, position
  from departure
 where uid = $1 and conv_id > $2
 order by conv_id
 limit $3
