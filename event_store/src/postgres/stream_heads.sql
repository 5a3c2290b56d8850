-- stream_heads.sql: the last version and chain hash of each stream; no row for an empty one.
select s.stream_id, last.version, last.chain
  from unnest($1::bigint[]) as s(stream_id)
 cross join lateral (
       select version, chain
         from log.event
        where stream_id = s.stream_id
        order by stream_id desc, version desc
        limit 1) as last
