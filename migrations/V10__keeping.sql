-- Retention, erasure and legal holds: what hides erased messages, which holds stand, and how far bodies are gone.

-- No sample of what people said goes into the planner's statistics, where erasure would have to look for it.
create or replace function log.ensure_body_month(at_ms bigint, out from_ms bigint, out to_ms bigint) language plpgsql as $$
declare
    starts timestamp := date_trunc('month', to_timestamp(at_ms / 1000) at time zone 'UTC');
    part   text      := 'body_' || to_char(starts, 'YYYYMM');
begin
    from_ms := extract(epoch from starts) * 1000;
    to_ms := extract(epoch from starts + interval '1 month') * 1000;
    -- One at a time, over all nodes.
    perform pg_advisory_xact_lock(7170, -1);
    if to_regclass('log.' || part) is null then
        execute format('create table log.%I (like log.body including all)', part);
        execute format('alter table log.%I alter column bytes set statistics 0', part);
        execute format('alter table log.body attach partition log.%I for values from (%s) to (%s)', part, from_ms, to_ms);
    end if;
end $$;

-- The holds that stand, on conversations and on persons (cord: a conv_id, or person-<uid>). Written in the transaction
-- of the event, with the piece from which it follows.
create table log.hold (
    stream_id bigint primary key,
    cord      text   collate "C" not null unique,
    by_uid    bigint not null,                  -- 0: an operator at the command line
    reason    text   not null,
    at        bigint not null
);

-- Persons whose erasure has not come to its end: whoever serves goes on with it.
create table log.erasing (
    stream_id bigint primary key,
    cord      text   collate "C" not null
);

-- Whoever places a hold waits until no removal is in its last step, and the next one sees it: once a hold is answered,
-- nothing more is taken.
create function log.note_keeping() returns trigger language plpgsql as $$
declare
    named text := c.conv_id from log.conversation c where c.conv_no = new.stream_id >> 3;
    piece json := new.value::json;
    hold  json := piece -> 'hold';
begin
    if hold is null then
        delete from log.hold where stream_id = new.stream_id;
    else
        perform pg_advisory_xact_lock(7174, 0);
        insert into log.hold (stream_id, cord, by_uid, reason, at)
        values (new.stream_id, named, (hold ->> 0)::bigint, hold ->> 1, (hold ->> 2)::bigint)
            on conflict (stream_id) do update
           set by_uid = excluded.by_uid, reason = excluded.reason, at = excluded.at;
    end if;
    if coalesce((piece ->> 'erasing')::boolean, false) then
        insert into log.erasing (stream_id, cord) values (new.stream_id, named) on conflict do nothing;
    else
        delete from log.erasing where stream_id = new.stream_id;
    end if;
    return null;
end $$;

create trigger note_keeping after insert or update on log.piece
   for each row when (new.key = 'keeping') execute function log.note_keeping();

-- Up to which message of a stream retention has seen to it that the bodies go: their digests stand in log.digest.
create table log.retained (
    stream_id bigint primary key,
    up_to     bigint not null
);

-- Months with bodies whose digests stand already: these partitions are to be written anew.
create table log.rewrite (
    from_ms   bigint primary key,
    spared_by text                              -- names the holds because of which all of it was left
);

alter function create_conversation_generation(int) rename to create_conversation_generation_v5;

-- Adds to the schema of generation n what this migration brings.
create function add_keeping(n int) returns void language plpgsql as $$
begin
    perform set_config('search_path', format('conversation_g%s, public', n), true);

    -- Marks: erased, for all. Slot 0 is the leftmost bit. A row never grows.
    create table expired (
        conv_id     text collate "C" not null,
        bucket      bigint not null,
        bits        bit(100) not null,
        primary key (conv_id, bucket)
    );

    alter table history_tail alter column body set statistics 0;
    alter table history_bucket alter column body set statistics 0;
end
$$;

-- Creates the schema of generation n of the read models about conversations.
create function create_conversation_generation(n int) returns void language plpgsql as $$
begin
    perform create_conversation_generation_v5(n);
    perform add_keeping(n);
end
$$;

-- set_config lasts to the end of the transaction; whatever comes after in it finds its path as it was.
do $$
declare
    path text := current_setting('search_path');
    n int;
    part regclass;
begin
    for n in select substring(nspname from '^conversation_g([0-9]+)$')::int
               from pg_namespace where nspname ~ '^conversation_g[0-9]+$'
    loop
        perform add_keeping(n);
    end loop;
    for part in select inhrelid::regclass from pg_inherits where inhparent = 'log.body'::regclass
    loop
        execute format('alter table %s alter column bytes set statistics 0', part);
    end loop;
    perform set_config('search_path', path, true);
    -- What was sampled before goes, where that is allowed; else `quipu audit erase` says that it stays.
    begin
        delete from pg_statistic s
         using pg_attribute a, pg_class c, pg_namespace n
         where a.attrelid = s.starelid and a.attnum = s.staattnum and a.attstattarget = 0
           and c.oid = s.starelid and n.oid = c.relnamespace and a.attname in ('bytes', 'body')
           and (n.nspname = 'log' or n.nspname ~ '^conversation_g');
    exception when insufficient_privilege then
        null;
    end;
end
$$;
