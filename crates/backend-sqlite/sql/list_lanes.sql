-- Lanes of a namespace with how many executions are in which state, by name.
-- Takes the namespace, and the lane to start after.
SELECT lane, json_group_object(state, count) FROM lane_depth
WHERE namespace = ?1 AND lane > ?2 AND count > 0
GROUP BY lane ORDER BY lane
