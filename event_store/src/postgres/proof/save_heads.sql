-- save_heads.sql: keeps the heads that give a root. Another node that made the same ones has kept them already.
insert into log.checkpoint_heads (shard, root, heads)
values ($1, $2, $3)
    on conflict (shard, root) do nothing
