-- expire.sql: raises what retention has taken of histories, one row each; only goes up.
update head h
   set expired_seq = gone.up_to_seq
  from unnest($1::text[], $2::bigint[]) as gone(conv_id, up_to_seq)
 where h.conv_id = gone.conv_id and h.expired_seq < gone.up_to_seq
