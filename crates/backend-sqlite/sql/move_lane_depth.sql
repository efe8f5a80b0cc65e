-- Moves how many executions of a lane are in a state.
-- Takes namespace, lane, state, by how many.
UPDATE lane_depth SET count = count + ?4 WHERE namespace = ?1 AND lane = ?2 AND state = ?3
