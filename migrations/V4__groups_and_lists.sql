-- What a group's owner may change, and how each person wants a conversation in their list.

-- A repeat of a send (1), of a keyed clear (6) or of a keyed hiding (7) is found by its id.
drop index log.event_by_id;
create unique index event_by_id on log.event (stream_id, event_id) where event_type in (1, 6, 7);

-- Columns and a table more in every generation of the read models about conversations, in those that are there and in
-- those to come.

alter function create_conversation_generation(int) rename to create_conversation_generation_v2;

-- Adds to the schema of generation n what this migration brings. No event from before it needs to be projected
-- again: the defaults are what was so.
create function add_groups_and_lists(n int) returns void language plpgsql as $$
begin
    perform set_config('search_path', format('conversation_g%s, public', n), true);

    alter table head
        add column mute_all  boolean not null default false,
        add column invite    text not null default 'admins' check (invite in ('admins', 'members')),
        add column dissolved boolean not null default false;

    -- The head when the person last took the conversation out of their list; null is never. Only ever raised.
    alter table watermark add column hidden_seq bigint;

    -- How each person wants a conversation in their list.
    create table setting (
        conv_id     text collate "C" not null,
        uid         bigint not null,
        pinned      boolean not null,
        muted       boolean not null,
        primary key (conv_id, uid)
    ) with (fillfactor = 80);
end
$$;

-- Creates the schema of generation n of the read models about conversations.
create function create_conversation_generation(n int) returns void language plpgsql as $$
begin
    perform create_conversation_generation_v2(n);
    perform add_groups_and_lists(n);
end
$$;

-- set_config lasts to the end of the transaction; whatever comes after in it finds its path as it was.
do $$
declare
    path text := current_setting('search_path');
    n int;
begin
    for n in select substring(nspname from '^conversation_g([0-9]+)$')::int
               from pg_namespace where nspname ~ '^conversation_g[0-9]+$'
    loop
        perform add_groups_and_lists(n);
    end loop;
    perform set_config('search_path', path, true);
end
$$;
