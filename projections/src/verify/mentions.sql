-- mentions.sql: who is named where, after uid $2 and message $3, ascending; never more than $4 rows.
select uid, seq, sender
  from mention
 where conv_id = $1 and (uid, seq) > ($2, $3)
 order by uid, seq
 limit $4
