-- standing.sql: where person $1 stands: watermark, newest id, and how many lie above the watermark. One row; six
-- probes.
select r.read_id,
       greatest(coalesce((select id from broadcast order by id desc limit 1), 0),
                coalesce((select id from recipient where uid = $1 order by uid desc, id desc limit 1), 0)),
       coalesce((select nth from broadcast order by id desc limit 1), 0)
       - coalesce((select nth from broadcast where id <= r.read_id order by id desc limit 1), 0)
       + coalesce((select nth from recipient where uid = $1 order by uid desc, id desc limit 1), 0)
       - coalesce((select nth from recipient where uid = $1 and id <= r.read_id
                    order by uid desc, id desc limit 1), 0)
  from (select coalesce((select read_id from inbox where uid = $1), 0) as read_id) as r
