-- contents.sql: what was told under these ids, ascending; at most a row each.
select id, category, content, at
  from notification
 where id = any($1)
 order by id
