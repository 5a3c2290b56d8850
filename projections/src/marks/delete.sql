-- delete.sql: sets bits, one row a viewer and bucket; a row never grows past its hundred bits.
insert into deleted as d (conv_id, uid, bucket, bits)
select * from unnest($1::text[], $2::bigint[], $3::bigint[], $4::bit(100)[])
on conflict (conv_id, uid, bucket) do update set bits = d.bits | excluded.bits
