-- give_job_back.sql: gives the right to remove back.
select pg_advisory_unlock(7174, 1)
