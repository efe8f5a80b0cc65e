-- The first executions of a lane in a state.
-- Takes namespace, lane, state, how many.
INSERT INTO lane_depth (namespace, lane, state, count) VALUES (?1, ?2, ?3, ?4)
