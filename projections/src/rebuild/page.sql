-- page.sql: keys and hashes of a table's rows behind $4 and up to $5; never more than $6 rows.
select key, hash from rows_of($1, $2, $3, $4, $5, $6)
