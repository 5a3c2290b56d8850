-- let_go.sql: lets others move checkpoints again.
select pg_advisory_unlock(7172, hashtext($1))
