-- segments.sql: the names of the write-ahead log's segments, those that lie ready too, ascending; as many as its size.
select name
  from pg_ls_waldir()
 where name ~ '^[0-9A-F]{24}$'
 order by name
