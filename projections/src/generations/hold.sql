-- hold.sql: lets nobody but this connection move checkpoints, until it is let go; waits for those who do.
select pg_advisory_lock(7172, hashtext($1))
