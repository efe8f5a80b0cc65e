-- Executions of a partition blocked by a cause, best score first: the rest of one priority, then all lower ones.
-- Takes partition, cause, then priority, created_at, uuid to start after.
SELECT priority, created_at, uuid, version, tag, body FROM execution INDEXED BY execution_blocked
WHERE partition = ?1 AND cause = ?2 AND priority = ?3 AND (created_at, uuid) > (?4, ?5)
UNION ALL
SELECT priority, created_at, uuid, version, tag, body FROM execution INDEXED BY execution_blocked
WHERE partition = ?1 AND cause = ?2 AND priority < ?3
ORDER BY 1 DESC, 2, 3
