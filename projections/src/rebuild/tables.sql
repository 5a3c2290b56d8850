-- tables.sql: the tables of a generation with their keys; some twenty rows.
select name, keys, types from tables_of($1)
