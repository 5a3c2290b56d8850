-- drop.sql: drops the generation that does not serve; one row, null where there is none.
select drop_generation($1)
