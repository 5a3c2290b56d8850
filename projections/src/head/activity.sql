-- activity.sql: when these conversations were last active for one who joined at $2; one row each, parked ones left out.
select h.conv_id, greatest(h.updated_at, asked.joined_at)
  from unnest($1::text[], $2::bigint[]) as asked(conv_id, joined_at)
  join head h on h.conv_id = asked.conv_id
 where not exists (select from parked p where p.name = $3 and p.generation = $4 and p.conv_id = h.conv_id)
