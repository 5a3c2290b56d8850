-- try_lock.sql: takes the right to build, switch and drop generations, for as long as this connection lives; one row.
select pg_try_advisory_lock(7173, hashtext($1))
