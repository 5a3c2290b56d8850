-- parked_at.sql: where these conversations were parked; at most one row each.
select conv_id, position
  from parked
 where name = $1 and generation = $2 and conv_id = any($3::text[])
