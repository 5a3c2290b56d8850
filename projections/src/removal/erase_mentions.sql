-- erase_mentions.sql: takes away who is named in erased messages, one row each at most.
delete from mention m
 using unnest($2::bigint[], $3::bigint[]) as named(uid, seq)
 where m.conv_id = $1 and m.uid = named.uid and m.seq = named.seq
