-- take_job.sql: takes the right to remove, until the session ends, unless somebody else has it.
select pg_try_advisory_lock(7174, 1)
