-- conversation_names.sql: conversations after $1, ascending; never more than $2 rows. Groups and single chats are read
-- apart, so that what is of no conversation is not passed one by one.
select conv_id
  from ((select conv_id
           from log.conversation
          where conv_id > greatest($1 collate "C", 'grp-') and conv_id < 'grp.'
          order by conv_id
          limit $2)
        union all
        (select conv_id
           from log.conversation
          where conv_id > greatest($1 collate "C", 'p2p-') and conv_id < 'p2p.'
          order by conv_id
          limit $2)) as named
 order by conv_id
 limit $2
