-- Ends the output of an attempt, if there is any.
-- Takes uuid, partition, attempt index, when, why.
UPDATE stream SET closed_at = ?4, closed_reason = ?5
WHERE uuid = ?1 AND partition = ?2 AND attempt_index = ?3 AND is_deleted = 0
