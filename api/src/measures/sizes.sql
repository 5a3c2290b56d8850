-- sizes.sql: what Postgres has written to its WAL since it was made, and how large this database is. One row.
select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8, pg_database_size(current_database())::float8
