-- copy_tail.sql: adds messages to filling buckets, one row each; as append.sql, for many at once.
copy history_tail (conv_id, seq, body) from stdin (format binary)
