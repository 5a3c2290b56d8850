-- The log: headers that are never changed or deleted, bodies that the law may take, and decision state.
-- docs/decisions/0001 to 0004 say why it looks like this.

create schema log;

-- What was fixed when the log was created. One row, written by quipu at the first start.
create table log.info (
    only_one       boolean  primary key default true check (only_one),
    log_id         uuid     not null,
    epoch          integer  not null check (epoch > 0),
    shards         smallint not null check (shards > 0),
    shard_function text     not null,
    bucket_size    integer  not null,
    created_at     bigint   not null
);

-- Short keys for conversations: stream_id = conv_no * 8 + kind (0 message, 1 mark, 2 group).
create table log.conversation (
    conv_no bigint   generated always as identity primary key,
    conv_id text     collate "C" not null unique,
    shard   smallint not null
);

-- Headers. Inserted by append alone, under the shard's lock; never updated, never deleted.
create table log.event (
    stream_id      bigint   not null,
    version        bigint   not null check (version > 0),
    position       bigint   not null check (position > 0),
    recorded_at    bigint   not null,
    actor          bigint   not null,
    msg_id         bigint,
    create_at      bigint,
    event_id       uuid     not null,
    correlation_id uuid     not null,
    client_msg_id  uuid,
    shard          smallint not null,
    event_type     smallint not null,
    schema_version smallint not null,
    origin         smallint not null check (origin in (0, 1)),
    msg_type       smallint,
    flags          smallint,
    device         text,
    chain          bytea    not null check (length(chain) = 32),
    primary key (stream_id, version)
);

-- The shard's order: dense, so a follower can never skip an event that commits late.
create unique index event_in_shard on log.event (shard, position);

-- A repeat of a send (1) or of a keyed clear (6) is found by its id; every other repeat is known from state.
create unique index event_by_id on log.event (stream_id, event_id) where event_type in (1, 6);

-- msg_id grows with time, so a few kilobytes of ranges find it.
create index event_by_msg_id on log.event using brin (msg_id) with (autosummarize = on);

-- Salt and body as stored, by month: retention drops a partition, erasure rewrites one.
create table log.body (
    recorded_at bigint   not null,
    position    bigint   not null,
    shard       smallint not null,
    salt        bytea    not null check (length(salt) = 16),
    bytes       bytea    not null,
    primary key (shard, position, recorded_at)
) partition by range (recorded_at);

-- Where a body has gone, its digest takes its place, and the chain still verifies.
create table log.digest (
    position bigint   not null,
    shard    smallint not null,
    digest   bytea    not null check (length(digest) = 32),
    primary key (shard, position)
);

-- Decision state: small values that follow from the streams, written in the transaction of the events.
create table log.piece (
    stream_id bigint not null,
    key       text   collate "C" not null,
    value     text   not null,
    primary key (stream_id, key)
) with (fillfactor = 85);

-- Makes sure that bodies recorded at this moment (unix ms) have their month's partition. Attaching takes a lock
-- that lets reads and inserts into the other months go on.
create function log.ensure_body_month(at_ms bigint, out from_ms bigint, out to_ms bigint) language plpgsql as $$
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
        execute format('alter table log.body attach partition log.%I for values from (%s) to (%s)', part, from_ms, to_ms);
    end if;
end $$;

-- For operators: the log as a person reads it.
create view log.readable as
select e.shard, e.position,
       (array['message', 'mark', 'group'])[(e.stream_id & 7) + 1] || '-' || c.conv_id as stream,
       e.version, e.event_type, e.schema_version,
       to_timestamp(e.recorded_at / 1000.0) as recorded_at,
       e.actor, e.device, e.event_id, e.correlation_id, convert_from(b.bytes, 'UTF8') as body
  from log.event e
  join log.conversation c on c.conv_no = e.stream_id >> 3
  left join log.body b on b.shard = e.shard and b.position = e.position and b.recorded_at = e.recorded_at;
