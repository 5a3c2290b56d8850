-- messages.sql: who sent the needed messages, and when; no bodies.
select e.stream_id, e.version, e.actor, e.create_at
  from unnest($1::bigint[], $2::bigint[]) as n(stream_id, version)
  join log.event e on e.stream_id = n.stream_id and e.version = n.version
