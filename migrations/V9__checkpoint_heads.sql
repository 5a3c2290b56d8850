-- What checkpoints have seen, so that a fault can be named by its stream.

-- The heads of the streams that a checkpoint covers in one shard: 48 bytes each (stream_id and version as eight bytes,
-- little-endian, and the chain hash), by stream name. Named by the root that they give, so that nobody needs to trust
-- it. A help and no more: without it a rewritten stream is still found, but only its shard and positions are named.
create table log.checkpoint_heads (
    shard smallint not null,
    root  bytea    not null check (length(root) = 32),
    heads bytea    not null,
    primary key (shard, root)
);

-- Hashes do not compress.
alter table log.checkpoint_heads alter column heads set storage external;
