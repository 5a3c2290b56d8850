-- unlock.sql: gives back the right to build, switch and drop, and whatever else this connection holds.
select pg_advisory_unlock_all()
