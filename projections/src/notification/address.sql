-- address.sql: notes what is for whom, one row a person and notification, counted on from each person's newest.
insert into recipient (uid, id, nth)
select new.uid, new.id,
       coalesce((select nth from recipient where uid = new.uid order by id desc limit 1), 0)
       + row_number() over (partition by new.uid order by new.id)
  from unnest($1::bigint[], $2::bigint[]) as new(uid, id)
