-- older_transactions.sql: how many backends, prepared transactions and replication slots still see something from before
-- transaction $1; one row.
select (select count(*)
          from pg_stat_activity
         where pid <> pg_backend_pid() and datname = current_database()
           and backend_xmin is not null and age(backend_xmin) > age($1::text::xid8::xid))
     + (select count(*)
          from pg_prepared_xacts
         where database = current_database() and age(transaction) > age($1::text::xid8::xid))
     + (select count(*)
          from pg_replication_slots
         where xmin is not null and age(xmin) > age($1::text::xid8::xid))
