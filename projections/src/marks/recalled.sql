-- recalled.sql: which messages of one page are taken back; never more than the page has.
select conv_id, seq, by_uid, at
  from recall
 where conv_id = $1 and seq between $2 and $3
