-- claim.sql: takes the lowest number from $3 to $4 that is free at $2 (unix ms) for the owner $1, with a window of
-- $5 ms that begins where the number's last one ended, or now if that is later. At most one row; none if all are
-- held or another claim was faster.
with free as (
    select candidate.number
      from generate_series($3::integer, $4::integer) as candidate (number)
      left join instance using (number)
     where instance.number is null or instance.owner is null or instance.reserved_until <= $2::bigint
     order by candidate.number
     limit 1
)
insert into instance (number, owner, reserved_until)
select number, $1::uuid, $2::bigint + $5::bigint from free
    on conflict (number) do update
   set owner = excluded.owner, reserved_until = greatest(instance.reserved_until, $2::bigint) + $5::bigint
 where instance.owner is null or instance.reserved_until <= $2::bigint
returning number, reserved_until
