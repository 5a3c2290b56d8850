-- behind.sql: a generation that has not passed these heads; at most one row.
select c.generation
  from unnest($1::int[], $2::bigint[]) as head(shard, position)
  join checkpoint c on c.name = 'conversation' and c.shard = head.shard and c.position < head.position
 limit 1
