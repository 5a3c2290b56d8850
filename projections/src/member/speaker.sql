-- speaker.sql: may $2, who is in a group, speak in it now: does it go on, is it muted, what are they; at most one row.
select h.dissolved, h.mute_all, m.role
  from head h
  join member_by_conv m on m.conv_id = h.conv_id and m.uid = $2
 where h.conv_id = $1
