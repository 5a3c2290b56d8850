-- older_transactions.sql: how many backends still see something from before transaction $1; one row.
select count(*)
  from pg_stat_activity
 where pid <> pg_backend_pid() and datname = current_database()
   and backend_xmin is not null and age(backend_xmin) > age($1::text::xid8::xid)
