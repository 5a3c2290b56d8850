-- renew.sql: moves the end of the window of number $1 up to $3 (unix ms), if it is still the owner $2's. At most one
-- row; none if somebody else has it.
update instance
   set reserved_until = greatest(reserved_until, $3::bigint)
 where number = $1::integer and owner = $2::uuid
returning reserved_until
