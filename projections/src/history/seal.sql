-- seal.sql: stores full buckets, one compressed row each.
insert into history_bucket (conv_id, bucket, body)
select * from unnest($1::text[], $2::bigint[], $3::bytea[])
