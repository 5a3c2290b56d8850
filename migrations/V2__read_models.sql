-- Read models: everything here is derived from the log and can be built again from it.
--
-- The tables of a generation live in a schema of their own, so that generation n+1 can be built beside the one
-- that serves. Which generation serves and how far each has come stands outside of them. Every table that grows
-- leads with conv_id or uid, by which it can be spread over machines; no statement joins across the two.

-- Which generation of a group of read models serves.
create table projection (
    name        text collate "C" primary key,
    generation  int not null check (generation > 0)
);

-- How far a generation has come in each shard. Updated with every batch: kept on one page by HOT updates.
create table checkpoint (
    name        text collate "C" not null,
    generation  int not null,
    shard       int not null,
    position    bigint not null check (position >= 0),
    primary key (name, generation, shard)
) with (fillfactor = 10);

-- Conversations with an event that could not be applied: they answer nothing until an operator has seen to it.
create table parked (
    name        text collate "C" not null,
    generation  int not null,
    conv_id     text collate "C" not null,
    shard       int not null,
    position    bigint not null,
    event_id    uuid not null,
    reason      text not null,
    parked_at   bigint not null,
    primary key (name, generation, conv_id)
);

create index parked_by_shard on parked (name, generation, shard);

-- Moves a checkpoint if it stands at `old`; else raises QP001, which ends the whole transaction: of two processes
-- that apply the same batch one applies nothing.
create function move_checkpoint(of_name text, of_generation int, of_shard int, old bigint, new bigint)
    returns void language plpgsql as $$
begin
    update checkpoint set position = new
     where name = of_name and generation = of_generation and shard = of_shard and position = old and old <= new;
    if not found then
        raise exception 'shard % of % does not stand at %', of_shard, of_name, old using errcode = 'QP001';
    end if;
end
$$;

-- Creates the schema of generation n of the read models about conversations.
create function create_conversation_generation(n int) returns void language plpgsql as $$
begin
    execute format('create schema conversation_g%s', n);
    perform set_config('search_path', format('conversation_g%s, public', n), true);

    -- History, a bucket that is still filling: a row a message.
    create table history_tail (
        conv_id     text collate "C" not null,
        seq         bigint not null,
        body        bytea not null,
        primary key (conv_id, seq)
    ) with (autovacuum_vacuum_scale_factor = 0.05);

    -- History, a full bucket of 100: one zstd row. EXTERNAL, since it is compressed already.
    create table history_bucket (
        conv_id     text collate "C" not null,
        bucket      bigint not null,
        body        bytea not null,
        primary key (conv_id, bucket)
    );
    alter table history_bucket alter column body set storage external;

    -- Messages of the server's own, which are never unread.
    create table system_message (
        conv_id     text collate "C" not null,
        seq         bigint not null,
        primary key (conv_id, seq)
    );

    -- Marks: taken back, for all.
    create table recall (
        conv_id     text collate "C" not null,
        seq         bigint not null,
        by_uid      bigint not null,
        at          bigint not null,
        primary key (conv_id, seq)
    );

    -- Marks: deleted by one person for that person. Slot 0 is the leftmost bit. A row never grows.
    create table deleted (
        conv_id     text collate "C" not null,
        uid         bigint not null,
        bucket      bigint not null,
        bits        bit(100) not null,
        primary key (conv_id, uid, bucket)
    ) with (fillfactor = 80);

    -- How far each has read. Only ever raised; no index but the key's, so that a raise is a HOT update.
    create table group_read (
        conv_id     text collate "C" not null,
        uid         bigint not null,
        read_seq    bigint not null,
        read_at     bigint not null,
        primary key (conv_id, uid)
    ) with (fillfactor = 70);

    -- How far each has cleared. Only ever raised.
    create table watermark (
        conv_id     text collate "C" not null,
        uid         bigint not null,
        cleared_seq bigint not null,
        primary key (conv_id, uid)
    ) with (fillfactor = 80);

    -- One row a conversation, updated with every batch that has a message of it.
    create table head (
        conv_id     text collate "C" primary key,
        kind        text not null check (kind in ('single', 'group')),
        name        text,
        history     text check (history in ('all', 'joined')),
        max_seq     bigint not null,
        expired_seq bigint not null default 0,
        updated_at  bigint not null
    ) with (fillfactor = 70);

    -- Who is in it now. A single chat's two come in with its first message.
    create table member_by_conv (
        conv_id     text collate "C" not null,
        uid         bigint not null,
        role        text not null check (role in ('owner', 'admin', 'member')),
        joined_seq  bigint not null,
        joined_at   bigint not null,
        primary key (conv_id, uid)
    );

    -- The same, by person.
    create table member_by_person (
        uid         bigint not null,
        conv_id     text collate "C" not null,
        joined_seq  bigint not null,
        joined_at   bigint not null,
        primary key (uid, conv_id)
    );

    -- Who is named where; uid 0 is everybody.
    create table mention (
        conv_id     text collate "C" not null,
        uid         bigint not null,
        seq         bigint not null,
        sender      bigint not null,
        primary key (conv_id, uid, seq)
    );
end
$$;

-- set_config lasts to the end of the transaction; whatever comes after in it finds its path as it was.
do $$
declare
    path text := current_setting('search_path');
begin
    perform create_conversation_generation(1);
    perform set_config('search_path', path, true);
end
$$;

insert into projection (name, generation) values ('conversation', 1);
