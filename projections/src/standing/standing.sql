-- standing.sql: where viewer $2 stands in each of these conversations ($3: the peers, $6: the shards), and how far its
-- shard has come; exactly one row each.
select asked.conv_id,
       exists (select from parked p
                where p.name = $4 and p.generation = $5 and p.conv_id = asked.conv_id) as parked,
       h.name, h.history, h.max_seq, h.expired_seq, h.updated_at,
       m.joined_seq, m.joined_at,
       w.cleared_seq,
       r.read_seq, r.read_at,
       peer.read_seq as peer_read_seq, peer.read_at as peer_read_at,
       coalesce(s.pinned, false) as pinned, coalesce(s.muted, false) as muted,
       coalesce(h.max_seq <= w.hidden_seq, false) as hidden,
       (select c.position from checkpoint c
         where c.name = $4 and c.generation = $5 and c.shard = asked.shard) as passed
  from unnest($1::text[], $3::bigint[], $6::int[]) as asked(conv_id, peer, shard)
  left join head h on h.conv_id = asked.conv_id
  left join member_by_conv m on m.conv_id = asked.conv_id and m.uid = $2
  left join watermark w on w.conv_id = asked.conv_id and w.uid = $2
  left join group_read r on r.conv_id = asked.conv_id and r.uid = $2
  left join setting s on s.conv_id = asked.conv_id and s.uid = $2
  left join group_read peer on peer.conv_id = asked.conv_id and peer.uid = asked.peer
