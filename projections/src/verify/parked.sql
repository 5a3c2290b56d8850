-- parked.sql: is conversation $3 parked in generation $2 of projection $1; at most one row.
select true from parked where name = $1 and generation = $2 and conv_id = $3
