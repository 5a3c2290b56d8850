-- note.sql: notes the digests of bodies that are to go, at most 256, with their months and, if it is given, how far
-- retention has come with stream $5.
with noted as (
    insert into log.digest (shard, position, digest)
    select * from unnest($1::smallint[], $2::bigint[], $3::bytea[])
        on conflict do nothing
), marked as (
    insert into log.rewrite (from_ms)
    select * from unnest($4::bigint[])
        on conflict (from_ms) do update set spared_by = null
)
insert into log.retained as r (stream_id, up_to)
select $5::bigint, $6::bigint where $5::bigint is not null
    on conflict (stream_id) do update set up_to = greatest(r.up_to, excluded.up_to)
