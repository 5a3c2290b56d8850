-- copy.sql: copies the next $3 bodies of shard $1 after position $2 into the new table, but those whose digests stand and
-- that no hold spares ($4: streams that are held; $5, $6: streams of which is held what has expired; $7: persons).
-- Answers the last position, how many were looked at, how many were copied, and how many of these a hold spares.
with page as (
    select b.*,
           exists (select from log.digest d where d.shard = b.shard and d.position = b.position) as goes
      from log.body_this b
     where b.shard = $1 and b.position > $2
     order by b.shard, b.position
     limit $3
), judged as (
    select p.*,
           p.goes and exists (
               select from log.event e
                where e.shard = p.shard and e.position = p.position
                  and (e.stream_id = any($4::bigint[]) or e.actor = any($7::bigint[])
                       or exists (select from unnest($5::bigint[], $6::bigint[]) as held(stream_id, up_to)
                                   where held.stream_id = e.stream_id and e.version <= held.up_to))) as spared
      from page p
), copied as (
    insert into log.body_this_next (recorded_at, position, shard, salt, bytes)
    select recorded_at, position, shard, salt, bytes
      from judged
     where not goes or spared
    returning 1
)
select (select max(position) from page), (select count(*) from page), (select count(*) from copied),
       (select count(*) from judged where spared)
