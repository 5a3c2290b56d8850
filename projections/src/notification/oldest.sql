-- oldest.sql: the oldest ids between $2 and $3 that person $1 may see, ascending; never more than $4 rows.
select id
  from ((select id from broadcast where id > $2 and id < $3 order by id limit $4)
        union all
        (select id from recipient where uid = $1 and id > $2 and id < $3 order by uid, id limit $4)) as found
 order by id
 limit $4
