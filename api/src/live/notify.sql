-- notify.sql: tells every node that listens on channel $1 each of the texts $2; nothing is stored.
select pg_notify($1, word) from unnest($2::text[]) as word
