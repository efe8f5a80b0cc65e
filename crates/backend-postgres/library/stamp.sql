-- Writes down who was handed what: the row, its queue, when it is due, and what the feed and the counts are told.
CREATE FUNCTION stamp(
    own_tag bigint, tasks taken[], outcomes handed_out[], claimants claimant[], now bigint, caller caller
) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    lines told[] := ARRAY(
        SELECT ROW(task.partition, 'execution:' || task.uuid, task.namespace, task.lane, task.kind, task.flow_id,
            '{"at":' || outcome.at || ',"what":"claimed","actor":' || (claimants[outcome.number]).actor || ',"attempt_index":'
                || task.attempt_index || ',"lease_epoch":' || outcome.lease_epoch
                || coalesce(',"flow_id":"' || task.flow_id || '"', '') || '}')::told
        FROM unnest(outcomes) AS outcome
        CROSS JOIN LATERAL (SELECT (tasks[outcome.number]).*) AS task
        ORDER BY outcome.number);
BEGIN
    UPDATE execution SET version = execution.version + 1, tag = own_tag, updated_at = outcome.at, due_at = outcome.due_at,
        queue_id = NULL, score = NULL,
        claim = outcome.at || ' grant ' || coalesce(outcome.gate, '-') || ' ' || claimant.claim
    FROM unnest(outcomes) AS outcome
    CROSS JOIN LATERAL (SELECT (tasks[outcome.number]).*) AS task
    CROSS JOIN LATERAL (SELECT (claimants[outcome.number]).*) AS claimant
    WHERE execution.partition = task.partition AND execution.uuid = task.uuid AND NOT outcome.is_lease;
    UPDATE execution SET version = execution.version + 1, tag = own_tag, updated_at = outcome.at, due_at = outcome.due_at,
        queue_id = NULL, score = NULL, claim = outcome.at || ' lease ' || coalesce(outcome.gate, '-') || ' ' || claimant.claim,
        state = 'active', blocking_reason = 'none', blocking_detail = NULL, worker = claimant.worker,
        lease_epoch = outcome.lease_epoch, lease_id = claimant.lease_id, lease_expires_at = outcome.at + claimant.lease_ms,
        attempt_id = outcome.attempt_id, is_attempt_over = false,
        history = execution.history || (lines[outcome.number]).line || E'\n',
        history_lines = execution.history_lines + 1
    FROM unnest(outcomes) AS outcome
    CROSS JOIN LATERAL (SELECT (tasks[outcome.number]).*) AS task
    CROSS JOIN LATERAL (SELECT (claimants[outcome.number]).*) AS claimant
    WHERE execution.partition = task.partition AND execution.uuid = task.uuid AND outcome.is_lease;
    DELETE FROM queued USING unnest(tasks) AS task
    WHERE queued.partition = task.partition AND queued.queue_id = task.queue_id AND queued.score = task.score
        AND queued.uuid = task.uuid;
    DELETE FROM due USING unnest(tasks) AS task
    WHERE task.due_at IS NOT NULL AND due.partition = task.partition AND due.at = task.due_at
        AND due.key = 'execution:' || task.uuid;
    INSERT INTO due (partition, at, key)
    SELECT (tasks[outcome.number]).partition, outcome.due_at, 'execution:' || (tasks[outcome.number]).uuid
    FROM unnest(outcomes) AS outcome;
    INSERT INTO lane_depth (namespace, lane, state, count)
    SELECT namespace, lane, change.state, sum(change.by)
    FROM unnest(outcomes) AS outcome
    CROSS JOIN LATERAL (SELECT (tasks[outcome.number]).*) AS task
    CROSS JOIN LATERAL (VALUES (task.state, -1), ('active', 1)) AS change (state, by)
    WHERE outcome.is_lease
    GROUP BY namespace, lane, change.state HAVING sum(change.by) <> 0;
    PERFORM move_counters(ARRAY(
        SELECT ROW(outcome.number, task.partition, 'flow:' || task.flow_id, 'count:' || change.state, change.by)::increment
        FROM unnest(outcomes) AS outcome
        CROSS JOIN LATERAL (SELECT (tasks[outcome.number]).*) AS task
        CROSS JOIN LATERAL (VALUES (task.state, -1), ('active', 1)) AS change (state, by)
        WHERE outcome.is_lease AND task.flow_id IS NOT NULL AND task.state <> 'active'))
    WHERE EXISTS (SELECT FROM unnest(tasks) AS task WHERE task.flow_id IS NOT NULL);
    lines := ARRAY(SELECT lines[outcome.number] FROM unnest(outcomes) AS outcome WHERE outcome.is_lease ORDER BY outcome.number);
    IF cardinality(lines) > 0 THEN
        PERFORM tell(lines, now, caller);
    END IF;
END $$;
