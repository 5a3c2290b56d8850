-- What a device that was away asks for.

-- Later facts but read positions, which outnumber everything else: those of one conversation after a position.
-- Neither a send (1) nor a read position (5) pays for it.
create index event_change on log.event (stream_id, position) where event_type not in (1, 5);

alter function create_conversation_generation(int) rename to create_conversation_generation_v4;

-- Adds to the schema of generation n what this migration brings. No event from before it needs to be projected
-- again: no cursor is older than this.
create function add_sync(n int) returns void language plpgsql as $$
begin
    perform set_config('search_path', format('conversation_g%s, public', n), true);

    -- The event that raised a read position.
    alter table group_read add column position bigint not null default 0;

    -- Which groups a person has left, and the event that said so. Membership says whether it still counts.
    create table departure (
        uid         bigint not null,
        conv_id     text collate "C" not null,
        position    bigint not null,
        primary key (uid, conv_id)
    );
end
$$;

-- Creates the schema of generation n of the read models about conversations.
create function create_conversation_generation(n int) returns void language plpgsql as $$
begin
    perform create_conversation_generation_v4(n);
    perform add_sync(n);
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
        perform add_sync(n);
    end loop;
    perform set_config('search_path', path, true);
end
$$;
