-- first_messages.sql: the first message of each conversation after position $2, by halving; no row
-- where there is none. Some thirty index probes a conversation at most, whatever its length.
with recursive search (place, stream_id, after, lo, hi) as (
    select a.place, c.conv_no * 8, a.after, 0::bigint, last.version
      from unnest($1::text[], $2::bigint[]) with ordinality as a(conv_id, after, place)
     cross join lateral (select conv_no from log.conversation where conv_id = a.conv_id limit 1) as c
     cross join lateral (
           select version, position
             from log.event
            where stream_id = c.conv_no * 8
            order by stream_id desc, version desc
            limit 1) as last
     where last.position > a.after
    union all
    select s.place, s.stream_id, s.after,
           case when e.position > s.after then s.lo else e.version end,
           case when e.position > s.after then e.version else s.hi end
      from search s
      join log.event e on e.stream_id = s.stream_id and e.version = (s.lo + s.hi) / 2
     where s.hi - s.lo > 1
)
select s.place, s.hi
  from search s
 where s.hi - s.lo <= 1
