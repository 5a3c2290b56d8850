-- blank_tail_below.sql: empties the messages up to $2 of a filling bucket; at most 99 rows.
update history_tail
   set body = ''
 where conv_id = $1 and seq <= $2 and body <> ''
