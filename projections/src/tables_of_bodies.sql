-- tables_of_bodies.sql: the tables of every generation in which bodies of messages lie, with their bytes on disk; two rows
-- a generation.
select format('%I.%I', n.nspname, c.relname), pg_total_relation_size(c.oid)
  from pg_namespace n
  join pg_class c on c.relnamespace = n.oid
 where n.nspname ~ '^conversation_g[0-9]+$' and c.relname in ('history_tail', 'history_bucket')
 order by 1
