-- share_holds.sql: waits until nobody is placing a hold; until the transaction ends, nobody can. A statement of its own:
-- only later ones see the holds that were placed meanwhile.
select pg_advisory_xact_lock_shared(7174, 0)
