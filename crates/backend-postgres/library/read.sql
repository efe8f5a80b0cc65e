-- What is only read, and the little that every process asks for once.

CREATE FUNCTION server_version() RETURNS text LANGUAGE plpgsql STABLE SET search_path FROM CURRENT AS $$
BEGIN
    RETURN current_setting('server_version');
END $$;

-- The store's time; proves that it answers.
CREATE FUNCTION ping(caller caller, OUT now bigint) LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    now := store_now(caller);
END $$;

-- Draws a generation, where there is none: of a timeline or a table that was not met before, or instead of one whose last writes were lost.
CREATE FUNCTION draw_generation(caller caller, drawn bigint, OUT now bigint, OUT generation bigint, OUT reached bigint)
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
#variable_conflict use_column
BEGIN
    now := store_now(caller);
    IF log_position() < caller.reached THEN
        UPDATE generation SET number = drawn
        WHERE system_identifier = caller.system_identifier AND timeline = current_timeline() AND drawn_in = tableoid;
    END IF;
    INSERT INTO generation (system_identifier, timeline, drawn_in, number)
    VALUES (caller.system_identifier, current_timeline(), 'generation'::regclass, drawn) ON CONFLICT DO NOTHING;
    IF FOUND THEN
        PERFORM empty_foreign_feed(now);
    END IF;
    SELECT number INTO generation FROM generation
    WHERE system_identifier = caller.system_identifier AND timeline = current_timeline() AND drawn_in = tableoid;
    reached := log_position();
END $$;

-- Says what the number of a queue stands for, from its first use on. The number follows from the queue: two that shared one would be one row.
CREATE FUNCTION name_queue(own_queue_id bigint, own_namespace text, own_lane text, own_signature text) RETURNS void
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM queue
        WHERE queue_id = own_queue_id AND namespace = own_namespace AND lane = own_lane AND signature = own_signature)
    THEN
        INSERT INTO queue (queue_id, namespace, lane, signature) VALUES (own_queue_id, own_namespace, own_lane, own_signature);
    END IF;
END $$;

-- What is due in some partitions, longest overdue first, and when the next thing will be that is not due yet. The first entry of a
-- partition says whether anything is due there, so that a partition with nothing to do costs one look into each table.
CREATE FUNCTION due(
    caller caller, partitions smallint[], account_partitions text[], at_most bigint,
    OUT now bigint, OUT answer due_row[], OUT next bigint
) LANGUAGE plpgsql STABLE SET search_path FROM CURRENT AS $$
DECLARE
    overdue smallint[];
    overdue_accounts text[];
BEGIN
    now := store_now(caller);

    SELECT array_agg(asked.partition) FILTER (WHERE first.at <= now), least(next, min(first.at) FILTER (WHERE first.at > now))
    INTO overdue, next
    FROM unnest(partitions) AS asked (partition)
    CROSS JOIN LATERAL (SELECT due.at FROM due WHERE due.partition = asked.partition ORDER BY due.at LIMIT 1) AS first;
    answer := answer || ARRAY(
        SELECT ROW(asked.partition, NULL, due.at, due.key)::due_row
        FROM unnest(overdue) AS asked (partition)
        CROSS JOIN LATERAL (
            SELECT due.at, due.key FROM due WHERE due.partition = asked.partition AND due.at <= now
            ORDER BY due.at, due.key LIMIT at_most + 1
        ) AS due
        ORDER BY due.at LIMIT at_most + 1);
    next := least(next, (
        SELECT min(first.at) FROM unnest(overdue) AS asked (partition) CROSS JOIN LATERAL (
            SELECT due.at FROM due WHERE due.partition = asked.partition AND due.at > now
            ORDER BY due.at LIMIT 1) AS first));

    SELECT array_agg(asked.partition) FILTER (WHERE first.at <= now), least(next, min(first.at) FILTER (WHERE first.at > now))
    INTO overdue, next
    FROM unnest(partitions) AS asked (partition)
    CROSS JOIN LATERAL (SELECT nudge.at FROM nudge WHERE nudge.partition = asked.partition ORDER BY nudge.at LIMIT 1) AS first;
    answer := answer || ARRAY(
        SELECT ROW(asked.partition, NULL, nudge.at, nudge.key)::due_row
        FROM unnest(overdue) AS asked (partition)
        CROSS JOIN LATERAL (
            SELECT nudge.at, nudge.key FROM nudge WHERE nudge.partition = asked.partition AND nudge.at <= now
            ORDER BY nudge.at LIMIT at_most + 1
        ) AS nudge
        ORDER BY nudge.at LIMIT at_most + 1);
    next := least(next, (
        SELECT min(first.at) FROM unnest(overdue) AS asked (partition) CROSS JOIN LATERAL (
            SELECT nudge.at FROM nudge WHERE nudge.partition = asked.partition AND nudge.at > now
            ORDER BY nudge.at LIMIT 1) AS first));

    SELECT array_agg(asked.partition) FILTER (WHERE first.at <= now), least(next, min(first.at) FILTER (WHERE first.at > now))
    INTO overdue_accounts, next
    FROM unnest(account_partitions) AS asked (partition)
    CROSS JOIN LATERAL (SELECT account_due.at FROM account_due WHERE account_due.partition = asked.partition ORDER BY account_due.at LIMIT 1) AS first;
    answer := answer || ARRAY(
        SELECT ROW(NULL, asked.partition, account_due.at, account_due.account)::due_row
        FROM unnest(overdue_accounts) AS asked (partition)
        CROSS JOIN LATERAL (
            SELECT account_due.at, account_due.account FROM account_due WHERE account_due.partition = asked.partition AND account_due.at <= now
            ORDER BY account_due.at, account_due.account LIMIT at_most + 1
        ) AS account_due
        ORDER BY account_due.at LIMIT at_most + 1);
    next := least(next, (
        SELECT min(first.at) FROM unnest(overdue_accounts) AS asked (partition) CROSS JOIN LATERAL (
            SELECT account_due.at FROM account_due WHERE account_due.partition = asked.partition AND account_due.at > now
            ORDER BY account_due.at LIMIT 1) AS first));
END $$;

-- Frames of a stream from one place to another, both included, that are not gone yet; its end, and its summary.
CREATE FUNCTION frames(
    caller caller, own_partition smallint, own_uuid uuid, own_attempt integer, from_millis bigint, from_sequence bigint, to_millis bigint,
    to_sequence bigint, at_most bigint, OUT now bigint, OUT answer found_frame[], OUT closed_at bigint, OUT closed_reason text,
    OUT summary bytea, OUT summary_revision bigint
) LANGUAGE plpgsql STABLE SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    own stream;
BEGIN
    now := store_now(caller);
    SELECT * INTO own FROM stream
    WHERE stream.partition = own_partition AND stream.uuid = own_uuid AND stream.attempt_index = own_attempt;
    answer := ARRAY(
        SELECT ROW(frame.millis, frame.sequence, frame.frame_type, frame.correlation_id, frame.content_type, frame.bytes)::found_frame
        FROM frame
        WHERE frame.stream_id = own.stream_id AND (frame.millis, frame.sequence) >= (from_millis, from_sequence)
            AND (frame.millis, frame.sequence) <= (to_millis, to_sequence) AND (frame.expires_at IS NULL OR frame.expires_at > now)
        ORDER BY frame.millis, frame.sequence LIMIT at_most);
    closed_at := own.closed_at;
    closed_reason := own.closed_reason;
    summary := own.summary;
    summary_revision := own.summary_revision;
END $$;

-- The queues of some partitions that have anything, with what is best in each: each is found by skipping from one to the next. What is in
-- each is counted up to a number.
CREATE FUNCTION queue_heads(
    caller caller, partitions smallint[], count_max bigint, OUT now bigint, OUT answer queue_head[]
) LANGUAGE plpgsql STABLE SET search_path FROM CURRENT AS $$
BEGIN
    now := store_now(caller);
    answer := ARRAY(
        WITH RECURSIVE head AS (
            SELECT first.* FROM unnest(partitions) AS asked (partition)
            CROSS JOIN LATERAL (
                SELECT queued.partition, queued.queue_id, queued.score, queued.uuid FROM queued
                WHERE queued.partition = asked.partition
                ORDER BY queued.queue_id, queued.score, queued.uuid LIMIT 1
            ) AS first
            UNION ALL
            SELECT next.* FROM head
            CROSS JOIN LATERAL (
                SELECT queued.partition, queued.queue_id, queued.score, queued.uuid FROM queued
                WHERE queued.partition = head.partition AND queued.queue_id > head.queue_id
                ORDER BY queued.queue_id, queued.score, queued.uuid LIMIT 1
            ) AS next
        )
        SELECT ROW(head.partition, head.queue_id, (
            SELECT ROW(queue.namespace, queue.lane, queue.signature)::queue_name FROM queue WHERE queue.queue_id = head.queue_id
        ), head.score, head.uuid, (
            SELECT count(*) FROM (
                SELECT FROM queued WHERE queued.partition = head.partition AND queued.queue_id = head.queue_id LIMIT count_max
            ) AS counted
        ))::queue_head FROM head ORDER BY 1);
END $$;

-- Wakes up other processes. Whoever tells them waits for no disk: nothing is lost with it but time.
CREATE FUNCTION tell_others(messages text[]) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    PERFORM pg_notify('flowfabric', message) FROM unnest(messages) AS message;
END $$;
