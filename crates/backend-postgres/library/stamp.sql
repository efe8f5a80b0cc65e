-- What follows from claims besides the stamp on the rows: their queues, when they are due, and what the feed and the counts are told.
CREATE FUNCTION follow_claims(outcomes handed_out[], now bigint, caller caller) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    lines told[];
BEGIN
    WITH outcome AS MATERIALIZED (
        SELECT * FROM unnest(outcomes)
    ), left_queues AS (
        DELETE FROM queued USING outcome
        WHERE queued.partition = outcome.partition AND queued.queue_id = outcome.queue_id AND queued.score = outcome.score
            AND queued.uuid = outcome.uuid
    ), no_longer_due AS (
        DELETE FROM due USING outcome
        WHERE outcome.due_before <> outcome.due_at AND due.partition = outcome.partition AND due.at = outcome.due_before
            AND due.key = 'execution:' || outcome.uuid
    ), timed AS (
        INSERT INTO due (partition, at, key)
        SELECT outcome.partition, outcome.due_at, 'execution:' || outcome.uuid FROM outcome
        WHERE outcome.due_before IS DISTINCT FROM outcome.due_at
    )
    INSERT INTO lane_depth (namespace, lane, state, count)
    SELECT outcome.namespace, outcome.lane, change.state, sum(change.by)
    FROM outcome
    CROSS JOIN LATERAL (VALUES (outcome.state_before, -1), ('active', 1)) AS change (state, by)
    WHERE outcome.is_lease
    GROUP BY outcome.namespace, outcome.lane, change.state HAVING sum(change.by) <> 0;
    lines := ARRAY(
        SELECT ROW(outcome.partition, 'execution:' || outcome.uuid, outcome.namespace, outcome.lane, outcome.kind, outcome.flow_id,
            outcome.line)::told
        FROM unnest(outcomes) AS outcome
        WHERE outcome.is_lease);
    IF cardinality(lines) = 0 THEN
        RETURN;
    END IF;
    IF EXISTS (SELECT FROM unnest(outcomes) AS outcome WHERE outcome.flow_id IS NOT NULL) THEN
        PERFORM move_counters(ARRAY(
            SELECT ROW(outcome.number, outcome.partition, 'flow:' || outcome.flow_id, 'count:' || change.state, change.by)::increment
            FROM unnest(outcomes) AS outcome
            CROSS JOIN LATERAL (VALUES (outcome.state_before, -1), ('active', 1)) AS change (state, by)
            WHERE outcome.is_lease AND outcome.flow_id IS NOT NULL AND outcome.state_before <> 'active'));
    END IF;
    PERFORM tell(lines, now, caller);
END $$;
