-- switch.sql: has generation $2 serve instead of $3, if it has passed in every shard what that one has; one row, with
-- whether it was done. Both stay live. To be sent by who holds the checkpoints still.
with behind as (
    select from checkpoint old
      left join checkpoint new on new.name = old.name and new.generation = $2 and new.shard = old.shard
     where old.name = $1 and old.generation = $3 and coalesce(new.position, -1) < old.position
), switched as (
    update projection set generation = $2
     where name = $1 and generation = $3 and not exists (select from behind)
    returning name
), live as (
    update generation g set live = true, phase = 'live'
      from switched where g.name = switched.name and g.number = $2
)
select exists (select from switched)
