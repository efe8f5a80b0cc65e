-- An execution, if everything that is asked of it holds.
-- Takes uuid, partition, then namespace, lane, state, kind, flow, tag key, tag value; what is null is not asked.
SELECT version, tag, body FROM execution INDEXED BY execution_by_id
WHERE uuid = ?1 AND partition = ?2
    AND (?3 IS NULL OR namespace = ?3) AND (?4 IS NULL OR lane = ?4) AND (?5 IS NULL OR state = ?5)
    AND (?6 IS NULL OR kind = ?6) AND (?7 IS NULL OR flow_id = ?7)
    AND (?8 IS NULL OR EXISTS (
        SELECT 1 FROM execution_tag AS tagged
        WHERE tagged.key = ?8 AND tagged.value = ?9 AND tagged.created_at = execution.created_at
            AND tagged.uuid = ?1 AND tagged.partition = ?2))
