-- change.sql: changes groups' own facts, one row each; null is what stays.
update head h
   set name = coalesce(new.name, h.name),
       history = coalesce(new.history, h.history),
       mute_all = coalesce(new.mute_all, h.mute_all),
       invite = coalesce(new.invite, h.invite),
       dissolved = h.dissolved or new.dissolved
  from unnest($1::text[], $2::text[], $3::text[], $4::boolean[], $5::text[], $6::boolean[])
       as new(conv_id, name, history, mute_all, invite, dissolved)
 where h.conv_id = new.conv_id
