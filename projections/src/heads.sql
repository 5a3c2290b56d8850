-- heads.sql: where the shards of conversations stand that generations follow; a row a shard.
select s.shard, coalesce((select position from log.event
                           where shard = s.shard::smallint
                           order by shard desc, position desc
                           limit 1), 0)
  from (select distinct shard from checkpoint where name = 'conversation') as s
