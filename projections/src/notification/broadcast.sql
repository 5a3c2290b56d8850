-- broadcast.sql: notes what is for everybody, one row each, counted on from the newest.
insert into broadcast (id, nth)
select new.id, coalesce((select nth from broadcast order by id desc limit 1), 0) + row_number() over (order by new.id)
  from unnest($1::bigint[]) as new(id)
