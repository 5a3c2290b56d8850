-- skipped.sql: how many events were passed over.
select count(*) from parked where name = $1 and generation = $2
