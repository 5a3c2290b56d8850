-- Who was last seen when, a row for each node that a person was connected to. By person: it grows with people, and may
-- be spread by uid. Not of the log: who was online is nobody's evidence, and nothing is computed from it.
create table presence (
    uid         bigint   not null,
    instance    integer  not null check (instance between 0 and 1023),
    seen_at     bigint   not null,      -- unix ms, by the database's clock, which all nodes share
    gone        boolean  not null,      -- said good-bye there
    primary key (uid, instance)
) with (fillfactor = 70);               -- written over every few seconds: room for it on the same page
