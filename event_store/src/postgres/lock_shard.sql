-- lock_shard.sql: waits for the exclusive turn at shard $1, until the transaction ends, and names it to the statements
-- that append. A statement of its own: only later statements see what was committed before the lock was given.
select pg_advisory_xact_lock(7171, $1::int), set_config('quipu.shards', array[$1::int]::text, true)
