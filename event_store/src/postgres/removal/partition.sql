-- partition.sql: of the month that begins at $1: its partition's name, whether there is one, where it ends, and how many
-- bytes it has on disk. One row.
select m.name, p.oid is not null, m.to_ms, coalesce(pg_total_relation_size(p.oid), 0)
  from (select 'body_' || to_char(starts, 'YYYYMM') as name,
               (extract(epoch from starts + interval '1 month') * 1000)::bigint as to_ms
          from (select to_timestamp($1::bigint / 1000) at time zone 'UTC' as starts) as of_month) as m
  left join pg_class p on p.oid = to_regclass('log.' || m.name)
