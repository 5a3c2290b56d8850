-- all.sql: the generations that are there, those that serve first; at most two a group of read models. `locked`: does
-- somebody build, switch or drop?
select g.name, g.number, g.number = p.generation as serving, g.live, g.made_at, g.phase, g.events, g.differing,
       g.differences, g.failure,
       (select count(*) from parked k where k.name = g.name and k.generation = g.number) as parked,
       (select coalesce(sum(position), 0)::bigint from checkpoint c
         where c.name = g.name and c.generation = g.number) as passed,
       exists (select from pg_locks l
                where l.locktype = 'advisory' and l.classid = 7173 and l.granted
                  and l.database = (select oid from pg_database where datname = current_database())
                  and l.objid::bigint = hashtext(g.name)::bigint & 4294967295) as locked
  from projection p
  join generation g on g.name = p.name
 order by g.name, serving desc
