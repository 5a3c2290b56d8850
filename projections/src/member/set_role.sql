-- set_role.sql: gives members other roles, one row each.
update member_by_conv m set role = new.role
  from unnest($1::text[], $2::bigint[], $3::text[]) as new(conv_id, uid, role)
 where m.conv_id = new.conv_id and m.uid = new.uid
