-- commit: a batch of transactions that write no record in common, all of them or none.
--
-- Everything is locked in one order (executions, other records, gates last) before anything is compared, and compared before anything
-- is written. What no record guards (what is new, counters, nudges) follows table by table, all that the call touches of each at once and
-- in the order of its keys: whoever waits for somebody holds nothing that the other one may still want.
--
-- If one transaction may not land, the call says which ones and why, and writes nothing: whoever asked sends the others again. So the way
-- of a batch that lands whole, as nearly every one does, knows no exceptions.

-- The first expectation of each transaction that does not hold.
CREATE FUNCTION conflicts(
    expected_executions expected_execution[],
    expected_records    expected_record[],
    executions          execution_before[],
    records             record_before[]
) RETURNS verdict[] LANGUAGE sql STABLE AS $$
    SELECT ARRAY(
        SELECT DISTINCT ON (tx) ROW(tx, 'conflict', nth, version, tag)::verdict
        FROM (
            SELECT asked.tx, asked.nth, found.version, found.tag
            FROM unnest(expected_executions) AS asked
            LEFT JOIN unnest(executions) AS found ON found.partition = asked.partition AND found.uuid = asked.uuid
            WHERE asked.nth IS NOT NULL AND (found.version, found.tag) IS DISTINCT FROM (asked.version, asked.tag)
            UNION ALL
            SELECT asked.tx, asked.nth, found.version, found.tag
            FROM unnest(expected_records) AS asked
            LEFT JOIN unnest(records) AS found ON found.partition = asked.partition AND found.key = asked.key
            WHERE (found.version, found.tag) IS DISTINCT FROM (asked.version, asked.tag)
        ) AS unlike
        ORDER BY tx, nth)
$$;

-- Moves the lines of executions that have too many of them on their rows into chunks of their own, and forgets the oldest chunks.
-- Whether it is time goes by what stood there before (60 lines), so that nobody has to look at what comes: a write adds a few more.
CREATE FUNCTION spill_history(replaced execution_put[], executions execution_before[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO history (partition, key, first, count, lines)
    SELECT execution.partition, 'execution:' || execution.uuid, execution.history_first, execution.history_lines, execution.history
    FROM unnest(replaced) AS put
    JOIN execution ON execution.partition = put.partition AND execution.uuid = put.uuid
    WHERE (executions[put.at]).history_lines > 60;
    UPDATE execution SET history = '', history_first = history_first + history_lines, history_lines = 0
    FROM unnest(replaced) AS put
    WHERE execution.partition = put.partition AND execution.uuid = put.uuid
        AND (executions[put.at]).history_lines > 60;
    DELETE FROM history USING unnest(replaced) AS put
    JOIN execution ON execution.partition = put.partition AND execution.uuid = put.uuid
    WHERE history.partition = put.partition AND history.key = 'execution:' || put.uuid
        AND history.first + history.count <= execution.history_first - 1000;
END $$;

CREATE FUNCTION commit(
    caller          caller,
    transactions        wanted[],
    must_exist          integer,
    expected_executions expected_execution[],
    expected_records    expected_record[],
    guards              expected_record[],
    -- The queues that are entered.
    queues              bigint[],
    created             execution_put[],
    replaced            execution_put[],
    deleted             execution_gone[],
    created_records     record_put[],
    replaced_records    record_put[],
    deleted_records     record_gone[],
    remains             execution_gone[],
    leaves              entry_gone[],
    enters              entry_put[],
    increments          increment[],
    nudges              nudge_put[],
    cleared             nudge_seen[],
    -- Those that come with an execution which is created: nothing can be there yet.
    first_payloads      payload_put[],
    payloads            payload_put[],
    lines               line_put[],
    told                told[],
    ends                stream_end[],
    OUT now             bigint,
    OUT verdicts        verdict[],
    OUT has_forgotten   boolean,
    OUT counters        bigint[]
) LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    executions    execution_before[] := '{}';
    told_of       execution_before[];
    records       record_before[] := '{}';
    gates         record_before[] := '{}';
    any_forgotten boolean := false;
    rows_written  integer;
    generation_now bigint;
BEGIN
    -- Rows are locked in the order they are asked for, which is that of their keys. Each is looked up by itself: a plan made while a
    -- table was small would walk along all of it, to have it in order.
    IF expected_executions IS NOT NULL THEN
        executions := ARRAY(
            SELECT ROW(found.partition, found.uuid, found.version, found.tag,
                CASE WHEN asked.nth IS NOT NULL THEN coalesce(found.version = asked.version AND found.tag = asked.tag, false) END,
                found.namespace, found.lane, found.state, found.due_at, found.queue_id, found.score,
                found.history_lines)::execution_before
            FROM unnest(expected_executions) AS asked
            CROSS JOIN LATERAL (
                SELECT * FROM execution
                WHERE execution.partition = asked.partition AND execution.uuid = asked.uuid
                FOR UPDATE
            ) AS found);
        IF lines IS NOT NULL THEN
            told_of := ARRAY(SELECT one FROM unnest(executions) AS one WHERE one.is_expected IS NULL);
            executions := ARRAY(SELECT one FROM unnest(executions) AS one WHERE one.is_expected IS NOT NULL);
        END IF;
    END IF;
    IF expected_records IS NOT NULL THEN
        records := ARRAY(
            SELECT ROW(found.partition, found.key, found.version, found.tag,
                coalesce(found.version = asked.version AND found.tag = asked.tag, false), found.due_at, found.expires_at)::record_before
            FROM unnest(expected_records) AS asked
            CROSS JOIN LATERAL (
                SELECT * FROM record WHERE record.partition = asked.partition AND record.key = asked.key FOR UPDATE
            ) AS found);
    END IF;
    IF guards IS NOT NULL THEN
        gates := ARRAY(
            SELECT ROW(found.partition, found.key, found.version, found.tag,
                coalesce(found.version = asked.version AND found.tag = asked.tag, false), found.due_at, found.expires_at)::record_before
            FROM unnest(guards) AS asked
            CROSS JOIN LATERAL (
                SELECT * FROM record WHERE record.partition = asked.partition AND record.key = asked.key FOR SHARE
            ) AS found);
    END IF;
    -- Read before the locks, the clock would let through what came too late behind one.
    now := store_now(caller);
    -- What is remembered no longer is not there.
    IF expected_records IS NOT NULL THEN
        any_forgotten := EXISTS (SELECT FROM unnest(records) AS found WHERE found.expires_at <= now);
    END IF;
    IF any_forgotten THEN
        records := ARRAY(SELECT one FROM unnest(records) AS one WHERE one.expires_at IS NULL OR one.expires_at > now);
    END IF;
    verdicts := '{}';
    IF cardinality(executions) + cardinality(records) + cardinality(gates) <> must_exist
        OR EXISTS (SELECT FROM unnest(executions) AS found WHERE NOT found.is_expected)
        OR EXISTS (SELECT FROM unnest(records || gates) AS found WHERE NOT found.is_expected)
    THEN
        verdicts := conflicts(expected_executions, expected_records || guards, executions, records || gates);
    END IF;
    IF EXISTS (SELECT FROM unnest(transactions) AS asked WHERE asked.generation IS NOT NULL OR asked.not_after <= now) THEN
        generation_now := current_generation(caller);
        verdicts := ARRAY(
            SELECT ROW(asked.tx, 'generation', NULL, NULL, NULL)::verdict
            FROM unnest(transactions) WITH ORDINALITY AS asked (generation, not_after, tx)
            WHERE asked.generation IS NOT NULL AND asked.generation IS DISTINCT FROM generation_now) || verdicts || ARRAY(
            SELECT ROW(asked.tx, 'too_late', NULL, NULL, NULL)::verdict
            FROM unnest(transactions) WITH ORDINALITY AS asked (generation, not_after, tx)
            WHERE asked.not_after <= now);
    END IF;
    IF cardinality(verdicts) > 0 THEN
        RETURN;
    END IF;
    -- A failover may have lost what a number stands for, which the caller still knows: it says so once more.
    has_forgotten := false;
    IF queues IS NOT NULL THEN
        has_forgotten := EXISTS (
            SELECT FROM unnest(queues) AS entered (queue_id)
            WHERE NOT EXISTS (SELECT FROM queue WHERE queue.queue_id = entered.queue_id));
    END IF;
    IF has_forgotten THEN
        RETURN;
    END IF;

    -- Rows are read out of what was sent once: what follows from them goes by what was written.
    IF created IS NOT NULL THEN
        WITH written AS (
            INSERT INTO execution (partition, uuid, namespace, lane, kind, created_at, version, tag, state, blocking_reason,
                blocking_detail, priority, updated_at, flow_id, due_at, queue_id, score, attempt_index, attempt_id, is_free, due_cap,
                worker, lease_epoch, lease_id, lease_expires_at, is_attempt_over, input_bytes, history, history_lines, body)
            SELECT partition, uuid, namespace, lane, kind, created_at, version, tag, state, blocking_reason, blocking_detail, priority,
                updated_at, flow_id, due_at, queue_id, score, attempt_index, attempt_id, is_free, due_cap, worker, lease_epoch, lease_id,
                lease_expires_at, is_attempt_over, input_bytes, put.lines, line_count, body
            FROM unnest(created) AS put
            RETURNING execution.partition, execution.uuid, execution.namespace, execution.lane, execution.state, execution.due_at,
                execution.queue_id, execution.score
        ), eligible AS (
            INSERT INTO queued (partition, queue_id, score, uuid)
            SELECT partition, queue_id, score, uuid FROM written WHERE queue_id IS NOT NULL
        ), timed AS (
            INSERT INTO due (partition, at, key) SELECT partition, due_at, 'execution:' || uuid FROM written WHERE due_at IS NOT NULL
        )
        INSERT INTO lane_depth (namespace, lane, state, count)
        SELECT namespace, lane, state, count(*) FROM written GROUP BY namespace, lane, state;
    END IF;
    IF replaced IS NOT NULL THEN
        IF EXISTS (SELECT FROM unnest(executions) AS found WHERE found.history_lines > 60) THEN
            PERFORM spill_history(replaced, executions);
        END IF;
        -- What never changes is not named, so that its indexes are left alone. A queue is kept for as long as it waits.
        WITH written AS (
            UPDATE execution SET version = put.version, tag = put.tag, state = put.state, blocking_reason = put.blocking_reason,
                blocking_detail = put.blocking_detail, priority = put.priority, updated_at = put.updated_at, flow_id = put.flow_id,
                due_at = put.due_at,
                queue_id = CASE WHEN put.queue_id IS NOT NULL THEN coalesce(execution.queue_id, put.queue_id) END, score = put.score,
                attempt_index = put.attempt_index, attempt_id = put.attempt_id, is_free = put.is_free, due_cap = put.due_cap,
                worker = put.worker, lease_epoch = put.lease_epoch, lease_id = put.lease_id, lease_expires_at = put.lease_expires_at,
                is_attempt_over = put.is_attempt_over, history = execution.history || put.lines,
                history_lines = execution.history_lines + put.line_count, claim = '', body = put.body
            FROM unnest(replaced) AS put
            WHERE execution.partition = put.partition AND execution.uuid = put.uuid
            RETURNING execution.partition, execution.uuid, execution.namespace, execution.lane, execution.state, execution.due_at,
                execution.queue_id, execution.score, executions[put.at] AS before
        ), left_queues AS (
            DELETE FROM queued USING written
            WHERE (before).queue_id IS NOT NULL AND (before).score IS DISTINCT FROM written.score
                AND queued.partition = written.partition AND queued.queue_id = (before).queue_id
                AND queued.score = (before).score AND queued.uuid = written.uuid
        ), no_longer_due AS (
            DELETE FROM due USING written
            WHERE (before).due_at IS NOT NULL AND (before).due_at IS DISTINCT FROM written.due_at
                AND due.partition = written.partition AND due.at = (before).due_at AND due.key = 'execution:' || written.uuid
        ), eligible AS (
            INSERT INTO queued (partition, queue_id, score, uuid)
            SELECT partition, queue_id, score, uuid FROM written
            WHERE queue_id IS NOT NULL AND score IS DISTINCT FROM (before).score
        ), timed AS (
            INSERT INTO due (partition, at, key)
            SELECT partition, due_at, 'execution:' || uuid FROM written
            WHERE due_at IS NOT NULL AND due_at IS DISTINCT FROM (before).due_at
        )
        INSERT INTO lane_depth (namespace, lane, state, count)
        SELECT written.namespace, written.lane, change.state, sum(change.by)
        FROM written
        CROSS JOIN LATERAL (VALUES (written.state, 1), ((before).state, -1)) AS change (state, by)
        WHERE written.state <> (before).state
        GROUP BY written.namespace, written.lane, change.state HAVING sum(change.by) <> 0;
    END IF;
    IF deleted IS NOT NULL THEN
        DELETE FROM execution USING unnest(deleted) AS gone
        WHERE execution.partition = gone.partition AND execution.uuid = gone.uuid;
        DELETE FROM payload USING unnest(deleted) AS gone
        WHERE payload.partition = gone.partition AND payload.uuid = gone.uuid;
        PERFORM forget_executions(deleted, executions);
    END IF;

    IF any_forgotten THEN
        DELETE FROM record USING unnest(created_records) AS put
        WHERE record.partition = put.partition AND record.key = put.key AND record.expires_at <= now;
    END IF;
    IF created_records IS NOT NULL THEN
        -- Whoever has locked what was created since the look may wait for this call: it is not waited for.
        INSERT INTO record (partition, key, version, tag, due_at, expires_at, seq, body)
        SELECT partition, key, version, tag, due_at, now + ttl_ms, seq, body FROM unnest(created_records)
        ORDER BY partition, key
        ON CONFLICT (partition, key) DO NOTHING;
        GET DIAGNOSTICS rows_written = ROW_COUNT;
        IF rows_written <> cardinality(created_records) THEN
            RAISE EXCEPTION 'somebody else has created a record' USING ERRCODE = 'unique_violation';
        END IF;
    END IF;
    IF replaced_records IS NOT NULL THEN
        UPDATE record SET version = put.version, tag = put.tag, due_at = put.due_at, seq = put.seq, body = put.body
        FROM unnest(replaced_records) AS put
        WHERE record.partition = put.partition AND record.key = put.key;
    END IF;
    IF deleted_records IS NOT NULL THEN
        DELETE FROM record USING unnest(deleted_records) AS gone
        WHERE record.partition = gone.partition AND record.key = gone.key;
        DELETE FROM history USING unnest(deleted_records) AS gone
        WHERE history.partition = gone.partition AND history.key = gone.key AND left(gone.key, 5) = 'flow:';
    END IF;
    IF created_records IS NOT NULL OR replaced_records IS NOT NULL OR deleted_records IS NOT NULL THEN
        PERFORM move_records(created_records, replaced_records, deleted_records, records);
    END IF;

    IF leaves IS NOT NULL THEN
        DELETE FROM entry USING unnest(leaves) AS gone WHERE entry.name = gone.name AND entry.sort = gone.sort;
    END IF;
    IF enters IS NOT NULL THEN
        INSERT INTO entry (name, sort, partition, key) SELECT name, sort, partition, key FROM unnest(enters) ORDER BY name, sort
        ON CONFLICT (name, sort) DO UPDATE SET partition = excluded.partition, key = excluded.key;
    END IF;
    IF lines IS NOT NULL THEN
        PERFORM append_lines(lines, told_of);
    END IF;
    IF first_payloads IS NOT NULL THEN
        -- Not unnested as a table, which would be written down first.
        INSERT INTO payload (partition, uuid, name, content_type, bytes)
        SELECT (put).partition, (put).uuid, (put).name, (put).content_type, (put).bytes
        FROM (SELECT unnest(first_payloads) AS put) AS one;
    END IF;
    IF payloads IS NOT NULL THEN
        -- Those of an execution that is not there are not kept.
        INSERT INTO payload (partition, uuid, name, content_type, bytes)
        SELECT partition, uuid, name, content_type, bytes FROM unnest(payloads) AS put
        WHERE EXISTS (
            SELECT FROM execution WHERE execution.partition = put.partition AND execution.uuid = put.uuid)
        ON CONFLICT (partition, uuid, name) DO UPDATE SET content_type = excluded.content_type, bytes = excluded.bytes;
    END IF;
    IF remains IS NOT NULL THEN
        PERFORM delete_remains(remains);
    END IF;
    IF remains IS NOT NULL OR deleted_records IS NOT NULL THEN
        PERFORM delete_counters(remains, deleted_records, increments);
    END IF;
    IF increments IS NOT NULL THEN
        counters := move_counters(increments);
    END IF;
    IF nudges IS NOT NULL OR cleared IS NOT NULL OR deleted IS NOT NULL OR deleted_records IS NOT NULL THEN
        PERFORM move_nudges(nudges, cleared, deleted, deleted_records, increments, now);
    END IF;
    IF ends IS NOT NULL THEN
        UPDATE stream SET closed_at = ended.at, closed_reason = ended.reason FROM unnest(ends) AS ended
        WHERE stream.partition = ended.partition AND stream.uuid = ended.uuid AND stream.attempt_index = ended.attempt_index;
    END IF;
    IF told IS NOT NULL THEN
        PERFORM tell(told, now, caller);
    END IF;
END $$;
