-- lock_shards.sql: takes the exclusive turn at those of shards $1 where nobody has it, until the transaction ends, and
-- names them to the statements after it. A statement of its own: only later statements see what was committed before a
-- lock was given. One row.
select set_config('quipu.shards', coalesce(array_agg(s.shard), '{}')::text, true)
  from unnest($1::smallint[]) as s(shard)
 where pg_try_advisory_xact_lock(7171, s.shard)
