-- members.sql: who of those that the group's events named is in it now; at most one row each.
select m.conv_id, m.uid, m.role, m.joined_seq
  from unnest($1::text[], $2::bigint[]) as named(conv_id, uid)
  join member_by_conv m on m.conv_id = named.conv_id and m.uid = named.uid
