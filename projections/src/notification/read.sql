-- read.sql: raises watermarks, one row a person; never lowers one.
insert into inbox as stands (uid, read_id, read_at)
select * from unnest($1::bigint[], $2::bigint[], $3::bigint[])
    on conflict (uid) do update set read_id = excluded.read_id, read_at = excluded.read_at
 where excluded.read_id > stands.read_id
