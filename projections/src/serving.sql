-- serving.sql: the generation that serves; one row.
select generation from projection where name = $1
