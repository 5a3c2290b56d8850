-- memberships.sql: what person $1 is in, after conversation $2, ascending; never more than $3 rows.
select conv_id, joined_at
  from member_by_person
 where uid = $1 and conv_id > $2
 order by conv_id
 limit $3
