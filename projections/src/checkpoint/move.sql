-- move.sql: moves one checkpoint from $4 to $5, or raises QP001 and ends the transaction.
select move_checkpoint($1, $2, $3, $4, $5)
