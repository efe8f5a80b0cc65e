-- An execution joined a flow.
-- Takes the row and the flow.
UPDATE execution SET flow_id = ?2 WHERE row = ?1
