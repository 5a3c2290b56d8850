-- release.sql: gives number $1 back, if it is still the owner $2's, and with it what of its window was not used: from
-- $3 (unix ms) on. At most one row.
update instance
   set owner = null, reserved_until = $3::bigint
 where number = $1::integer and owner = $2::uuid
