-- Which generations of the read models there are, and the lock under which they are switched.

-- Numbers are never used twice, so that nobody takes a later generation for one that was dropped.
alter table projection add column last_generation int not null default 1;
update projection set last_generation = generation;

-- The generations that are there: the one that serves, and at most one beside it. A live one is kept up with the log
-- by every node; one that is built is fed by its builder alone. The numbers of its building stand with it.
create table generation (
    name        text collate "C" not null references projection,
    number      int not null,
    live        boolean not null,
    made_at     bigint not null,
    phase       text not null default 'loading',
    events      bigint not null default 0,
    differing   bigint not null default 0,
    differences text[] not null default '{}',
    failure     text,
    primary key (name, number)
);

insert into generation (name, number, live, made_at, phase)
select name, generation, true, 0, 'live' from projection;

-- Moves a checkpoint if it stands at `old`; else raises QP001, which ends the whole transaction: of two processes
-- that apply the same batch one applies nothing. The lock is shared by all who move; who holds it alone sees the
-- checkpoints of this group of read models stand still.
create or replace function move_checkpoint(of_name text, of_generation int, of_shard int, old bigint, new bigint)
    returns void language plpgsql as $$
begin
    perform pg_advisory_xact_lock_shared(7172, hashtext(of_name));
    update checkpoint set position = new
     where name = of_name and generation = of_generation and shard = of_shard and position = old and old <= new;
    if not found then
        raise exception 'shard % of % does not stand at %', of_shard, of_name, old using errcode = 'QP001';
    end if;
end
$$;

-- Makes the next generation of a group of read models, with its checkpoints, and answers its number; where one is
-- being built already, its number. Raises QP002 where another one, which was live, has not been dropped yet.
create function begin_generation(of_name text, at bigint, shards int[]) returns int language plpgsql as $$
declare
    n int;
begin
    perform from projection where name = of_name for update;
    -- That of the schema has none before somebody projects.
    insert into checkpoint (name, generation, shard, position)
    select of_name, g.number, shard, 0 from generation g cross join unnest(shards) as shard where g.name = of_name
    on conflict do nothing;
    select g.number into n from generation g where g.name = of_name and not g.live;
    if found then
        return n;
    end if;
    perform from generation g join projection p on p.name = g.name
      where g.name = of_name and g.number <> p.generation;
    if found then
        raise exception 'another generation of % is there', of_name using errcode = 'QP002';
    end if;
    update projection set last_generation = last_generation + 1 where name = of_name returning last_generation into n;
    insert into generation (name, number, live, made_at) values (of_name, n, false, at);
    insert into checkpoint (name, generation, shard, position) select of_name, n, shard, 0 from unnest(shards) as shard;
    execute format('select create_%s_generation(%s)', of_name, n);
    return n;
end
$$;

-- Drops the generation that does not serve, with all that belongs to it, and answers its number; null where there is
-- none. Nobody moves a checkpoint meanwhile; who reads in it is waited for.
create function drop_generation(of_name text) returns int language plpgsql as $$
declare
    n int;
begin
    perform pg_advisory_xact_lock(7172, hashtext(of_name));
    select g.number into n from generation g join projection p on p.name = g.name
     where g.name = of_name and g.number <> p.generation
       for update;
    if found then
        execute format('drop schema %I cascade', of_name || '_g' || n);
        delete from parked where name = of_name and generation = n;
        delete from checkpoint where name = of_name and generation = n;
        delete from generation where name = of_name and number = n;
    end if;
    return n;
end
$$;

-- The tables of a schema, each with the columns of its primary key and their types.
create function tables_of(of_schema text, out name text, out keys text[], out types text[]) returns setof record
    language sql stable as $$
select c.relname::text,
       array_agg(a.attname::text order by k.nth),
       array_agg(format_type(a.atttypid, null) order by k.nth)
  from pg_namespace s
  join pg_class c on c.relnamespace = s.oid and c.relkind = 'r'
  join pg_index i on i.indrelid = c.oid and i.indisprimary
 cross join unnest(i.indkey) with ordinality as k(attnum, nth)
  join pg_attribute a on a.attrelid = c.oid and a.attnum = k.attnum
 where s.nspname = of_schema
 group by c.relname
 order by c.relname
$$;

-- A page of a table in the order of its key: each row's key and a hash of all of the row. Behind `after`, if it is
-- given, and not behind `upto`, if it is given; at most `most` rows.
create function rows_of(of_table text, keys text[], types text[], after text[], upto text[], most bigint,
                        out key text[], out hash text) returns setof record language plpgsql stable as $$
declare
    places text := (select string_agg(format('%I', k), ', ' order by n) from unnest(keys) with ordinality as t(k, n));
    texts  text := (select string_agg(format('%I::text', k), ', ' order by n) from unnest(keys) with ordinality as t(k, n));
    bound  text := (select string_agg(format('$%%s[%s]::%s', n, t), ', ' order by n)
                      from unnest(types) with ordinality as x(t, n));
begin
    return query execute format(
        'select array[%s], md5(t::text) from %I t where ($1 is null or (%s) > (%s)) and ($2 is null or (%s) <= (%s))
          order by %s limit $3',
        texts, of_table, places, replace(bound, '%s', '1'), places, replace(bound, '%s', '2'), places)
    using after, upto, most;
end
$$;
