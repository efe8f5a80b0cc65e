-- Whether a flow has no more members than a number.
-- Takes the flow and the number.
SELECT count(*) <= ?2 FROM (SELECT 1 FROM execution INDEXED BY execution_members WHERE flow_id = ?1 LIMIT ?2 + 1)
