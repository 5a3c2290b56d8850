-- small.sql: how many members those of these groups have that have at most $2; at most one row each. Never counts
-- beyond that.
select asked.conv_id, counted.n
  from unnest($1::text[]) as asked(conv_id)
 cross join lateral (
       select count(*) as n
         from (select from member_by_conv m where m.conv_id = asked.conv_id limit $2::bigint + 1) as some_of_them
       ) as counted
 where counted.n <= $2
