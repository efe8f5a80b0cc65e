-- Writes the gate of a flow.
-- Takes flow_id, partition, version, tag, state.
INSERT OR REPLACE INTO gate VALUES (?1, ?2, ?3, ?4, ?5)
