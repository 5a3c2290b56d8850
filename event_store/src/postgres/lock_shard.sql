-- lock_shard.sql: waits for the exclusive turn at a shard, until the transaction ends. A statement of its own:
-- only later statements see what was committed before the lock was given.
select pg_advisory_xact_lock(7171, $1::int)
