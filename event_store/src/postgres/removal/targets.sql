-- targets.sql: the next $3 conversations after number $1 and up to $2: up to which message each is too old, by halving,
-- since recorded_at never goes down in a stream; up to which it has expired; and up to which its bodies are gone or on
-- their way. $4, $5: the moments of single chats and groups, null where nothing is too old; $6, $7: of groups with one
-- of their own. Some thirty index probes a conversation at most.
with recursive asked as (
    select n.conv_no, n.conv_id,
           case when own.name is not null then own.moment
                when n.conv_id like 'grp-%' then $5::bigint
                when n.conv_id like 'p2p-%' then $4::bigint
            end as moment,
           coalesce((select version from log.event
                      where stream_id = n.conv_no * 8
                      order by stream_id desc, version desc
                      limit 1), 0) as head
      from (select c.conv_no, c.conv_id
              from log.conversation c
             where c.conv_no > $1 and c.conv_no <= $2
             order by c.conv_no
             limit $3) as n
      left join unnest($6::text[], $7::bigint[]) as own(name, moment) on own.name = n.conv_id
), search (conv_no, conv_id, moment, lo, hi) as (
    -- lo is too old (0 counts as such), hi is not (one beyond the head counts as such).
    select conv_no, conv_id, moment, 0::bigint, case when moment is null then 1 else head + 1 end
      from asked
    union all
    select s.conv_no, s.conv_id, s.moment,
           case when e.recorded_at < s.moment then e.version else s.lo end,
           case when e.recorded_at < s.moment then s.hi else e.version end
      from search s
      join log.event e on e.stream_id = s.conv_no * 8 and e.version = (s.lo + s.hi) / 2
     where s.hi - s.lo > 1
)
select s.conv_no, s.conv_id, s.lo,
       coalesce((select (p.value::json ->> 'expired_seq')::bigint from log.piece p
                  where p.stream_id = s.conv_no * 8 + 1 and p.key = $8), 0),
       coalesce((select r.up_to from log.retained r where r.stream_id = s.conv_no * 8), 0)
  from search s
 where s.hi - s.lo <= 1
 order by s.conv_no
