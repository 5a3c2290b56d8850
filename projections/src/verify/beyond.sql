-- beyond.sql: rows about messages above $2, of which there should be none; never more than $3 of each table.
(select 'history_tail', seq from history_tail where conv_id = $1 and seq > $2 order by seq limit $3)
union all
(select 'history_bucket', bucket * 100 + 1 from history_bucket
  where conv_id = $1 and bucket >= ($2 + 99) / 100 order by bucket limit $3)
union all
(select 'recall', seq from recall where conv_id = $1 and seq > $2 order by seq limit $3)
union all
(select 'system_message', seq from system_message where conv_id = $1 and seq > $2 order by seq limit $3)
