-- What follows from claims besides the stamp on the rows: their queues, when they are due, and what the feed and the counts are told.
CREATE FUNCTION follow_claims(outcomes handed_out[], now bigint, caller caller) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    lines told[];
BEGIN
    DELETE FROM queued USING unnest(outcomes) AS outcome
    WHERE queued.partition = outcome.partition AND queued.queue_id = outcome.queue_id AND queued.score = outcome.score
        AND queued.uuid = outcome.uuid;
    IF EXISTS (SELECT FROM unnest(outcomes) AS outcome WHERE outcome.due_before IS NOT NULL) THEN
        DELETE FROM due USING unnest(outcomes) AS outcome
        WHERE due.partition = outcome.partition AND due.at = outcome.due_before AND due.key = 'execution:' || outcome.uuid;
    END IF;
    INSERT INTO due (partition, at, key)
    SELECT outcome.partition, outcome.due_at, 'execution:' || outcome.uuid FROM unnest(outcomes) AS outcome;
    lines := ARRAY(
        SELECT ROW(outcome.partition, 'execution:' || outcome.uuid, outcome.namespace, outcome.lane, outcome.kind, outcome.flow_id,
            outcome.line)::told
        FROM unnest(outcomes) AS outcome
        WHERE outcome.is_lease);
    IF cardinality(lines) = 0 THEN
        RETURN;
    END IF;
    INSERT INTO lane_depth (namespace, lane, state, count)
    SELECT outcome.namespace, outcome.lane, change.state, sum(change.by)
    FROM unnest(outcomes) AS outcome
    CROSS JOIN LATERAL (VALUES (outcome.state_before, -1), ('active', 1)) AS change (state, by)
    WHERE outcome.is_lease
    GROUP BY outcome.namespace, outcome.lane, change.state HAVING sum(change.by) <> 0;
    IF EXISTS (SELECT FROM unnest(outcomes) AS outcome WHERE outcome.flow_id IS NOT NULL) THEN
        PERFORM move_counters(ARRAY(
            SELECT ROW(outcome.number, outcome.partition, 'flow:' || outcome.flow_id, 'count:' || change.state, change.by)::increment
            FROM unnest(outcomes) AS outcome
            CROSS JOIN LATERAL (VALUES (outcome.state_before, -1), ('active', 1)) AS change (state, by)
            WHERE outcome.is_lease AND outcome.flow_id IS NOT NULL AND outcome.state_before <> 'active'));
    END IF;
    PERFORM tell(lines, now, caller);
END $$;
