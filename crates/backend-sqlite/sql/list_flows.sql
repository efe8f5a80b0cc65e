-- Flows, newest first; the body is null when the namespace or the kind is another one.
-- Takes created_at and flow_id to start below, then namespace and kind; what is null is not asked.
SELECT created_at, flow_id, version, tag,
    CASE WHEN (?3 IS NULL OR namespace = ?3) AND (?4 IS NULL OR kind = ?4) THEN body END
FROM flow INDEXED BY flow_by_age
WHERE (created_at, flow_id) < (?1, ?2)
ORDER BY created_at DESC, flow_id DESC
