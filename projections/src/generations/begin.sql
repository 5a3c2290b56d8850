-- begin.sql: makes the next generation, or finds the one that is being built; one row.
select begin_generation($1, $2, $3)
