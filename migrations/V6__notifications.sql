-- System notifications: streams of the log that are of no conversation, and a read model of their own.

-- stream_id & 7 is 7 for a stream that is of no conversation; log.conversation then has the stream's own name.
create or replace view log.readable as
select e.shard, e.position,
       case e.stream_id & 7
           when 7 then c.conv_id
           else (array['message', 'mark', 'group'])[(e.stream_id & 7) + 1] || '-' || c.conv_id
       end as stream,
       e.version, e.event_type, e.schema_version,
       to_timestamp(e.recorded_at / 1000.0) as recorded_at,
       e.actor, e.device, e.event_id, e.correlation_id, convert_from(b.bytes, 'UTF8') as body
  from log.event e
  join log.conversation c on c.conv_no = e.stream_id >> 3
  left join log.body b on b.shard = e.shard and b.position = e.position and b.recorded_at = e.recorded_at;

-- Creates the schema of generation n of the read model of notifications. Where people are spread over machines by
-- uid, `notification` and `broadcast` are copied to each: nothing joins them with what has a uid.
create function create_notification_generation(n int) returns void language plpgsql as $$
begin
    execute format('create schema notification_g%s', n);
    perform set_config('search_path', format('notification_g%s, public', n), true);

    -- What was told, by its id.
    create table notification (
        id          bigint primary key,
        category    text not null,
        content     text not null,
        at          bigint not null
    );

    -- What is for everybody: one row, whatever the number of people. `nth` counts them, so that how many lie above
    -- a watermark is a difference of two.
    create table broadcast (
        id          bigint primary key,
        nth         bigint not null
    );

    -- What is for one person, counted for each.
    create table recipient (
        uid         bigint not null,
        id          bigint not null,
        nth         bigint not null,
        primary key (uid, id)
    );

    -- How far each has read. Only ever raised.
    create table inbox (
        uid         bigint primary key,
        read_id     bigint not null,
        read_at     bigint not null
    ) with (fillfactor = 80);
end
$$;

-- set_config lasts to the end of the transaction; whatever comes after in it finds its path as it was.
do $$
declare
    path text := current_setting('search_path');
begin
    perform create_notification_generation(1);
    perform set_config('search_path', path, true);
end
$$;

insert into projection (name, generation) values ('notification', 1);
