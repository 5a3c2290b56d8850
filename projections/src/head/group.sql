-- group.sql: a group's own facts, how many are in it, who owns it and what viewer $2 is in it; at most one row.
select h.name, h.history, h.mute_all, h.invite, h.dissolved, m.members, m.owner, m.role
  from head h
 cross join (select count(*) as members,
                    min(uid) filter (where role = 'owner') as owner,
                    min(role) filter (where uid = $2) as role
               from member_by_conv where conv_id = $1) m
 where h.conv_id = $1
