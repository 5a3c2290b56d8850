-- small.sql: which of these groups have at most $2 members; at most one row each. Never counts beyond that.
select asked.conv_id
  from unnest($1::text[]) as asked(conv_id)
 where (select count(*)
          from (select from member_by_conv m where m.conv_id = asked.conv_id limit $2::bigint + 1) as counted) <= $2
