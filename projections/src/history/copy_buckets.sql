-- copy_buckets.sql: stores full buckets, one compressed row each; as seal.sql, for many at once.
copy history_bucket (conv_id, bucket, body) from stdin (format binary)
