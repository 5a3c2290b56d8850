-- label.sql: labels messages as erased for all, one row a bucket; a row never grows past its hundred bits.
insert into expired as e (conv_id, bucket, bits)
select $1::text, * from unnest($2::bigint[], $3::bit(100)[])
on conflict (conv_id, bucket) do update set bits = e.bits | excluded.bits
