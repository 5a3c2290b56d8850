-- of_person.sql: which messages of a stream after $2 and up to $3 person $4 has sent, as far as their bodies are there
-- and not to go yet, ascending; no more rows than $3 - $2.
select e.version
  from log.event e
 where e.stream_id = $1 and e.version > $2 and e.version <= $3 and e.actor = $4 and e.event_type = 1
   and exists (select from log.body b
                where b.shard = e.shard and b.position = e.position and b.recorded_at = e.recorded_at)
   and not exists (select from log.digest d where d.shard = e.shard and d.position = e.position)
 order by e.stream_id, e.version
