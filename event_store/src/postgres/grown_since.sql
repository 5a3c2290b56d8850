-- grown_since.sql: which conversation each event of a shard after position $2 belongs to; never more than $3 rows.
select c.conv_id
  from log.event e
  join log.conversation c on c.conv_no = e.stream_id >> 3
 where e.shard = $1 and e.position > $2
 order by e.shard, e.position
 limit $3
