-- Parts of calls that change more than one table at a time. What reads or writes tables is PL/pgSQL, which keeps its plans: a function in
-- plain SQL is planned anew with every statement that calls it.

-- The store's time in Unix milliseconds: that of its clock, moved by whoever asks (only tests do), and never before what that one has
-- seen already.
CREATE FUNCTION store_now(caller caller) RETURNS bigint LANGUAGE sql VOLATILE AS $$
    SELECT greatest(floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint + caller.clock_offset, caller.seen)
$$;

-- The timeline that is written to now. (What the last checkpoint knows is still the old one after a promotion.)
CREATE FUNCTION current_timeline() RETURNS text LANGUAGE sql VOLATILE AS $$
    SELECT left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)
$$;

-- How far the log reaches.
CREATE FUNCTION log_position() RETURNS bigint LANGUAGE sql VOLATILE AS $$
    SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint
$$;

-- The generation of what is written now; none: this timeline was not met before, or not with this table, which a dump has brought in; or
-- its log is shorter than the caller has seen it, so that writes were lost.
CREATE FUNCTION current_generation(caller caller) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    RETURN (SELECT number FROM generation
        WHERE system_identifier = caller.system_identifier AND timeline = current_timeline() AND drawn_in = tableoid
            AND log_position() >= caller.reached);
END $$;

-- Takes executions that are gone out of their queues, of what is due and of the depths of their lanes.
CREATE FUNCTION forget_executions(deleted execution_gone[], executions execution_before[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM queued USING (SELECT executions[gone.at] AS before FROM unnest(deleted) AS gone) AS change
    WHERE (before).queue_id IS NOT NULL AND queued.partition = (before).partition AND queued.queue_id = (before).queue_id
        AND queued.score = (before).score AND queued.uuid = (before).uuid;
    DELETE FROM due USING (SELECT executions[gone.at] AS before FROM unnest(deleted) AS gone) AS change
    WHERE (before).due_at IS NOT NULL AND due.partition = (before).partition AND due.at = (before).due_at
        AND due.key = 'execution:' || (before).uuid;
    INSERT INTO lane_depth (namespace, lane, state, count)
    SELECT (before).namespace, (before).lane, (before).state, -count(*)
    FROM (SELECT executions[gone.at] AS before FROM unnest(deleted) AS gone) AS change
    GROUP BY (before).namespace, (before).lane, (before).state;
END $$;

-- Moves other records among what is due.
CREATE FUNCTION move_records(
    created record_put[], replaced record_put[], deleted record_gone[], records record_before[]
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF replaced IS NOT NULL OR deleted IS NOT NULL THEN
        DELETE FROM due USING (
            SELECT records[put.at] AS before, put.due_at FROM unnest(replaced) AS put
            UNION ALL
            SELECT records[gone.at], NULL FROM unnest(deleted) AS gone
        ) AS change
        WHERE (before).due_at IS NOT NULL AND (before).due_at IS DISTINCT FROM change.due_at
            AND due.partition = (before).partition AND due.at = (before).due_at AND due.key = (before).key;
    END IF;
    INSERT INTO due (partition, at, key)
    SELECT partition, due_at, key FROM unnest(created) WHERE due_at IS NOT NULL
    UNION ALL
    SELECT partition, due_at, key FROM unnest(replaced) AS put
    WHERE due_at IS NOT NULL AND due_at IS DISTINCT FROM (records[put.at]).due_at;
END $$;

-- Adds lines to histories: of executions that the transaction does not write, which are locked, and of flows.
CREATE FUNCTION append_lines(added line_put[], told_of execution_before[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE execution SET history = execution.history || more.lines, history_lines = execution.history_lines + more.count
    FROM (
        SELECT found.partition, found.uuid, count(*), string_agg(line.line || E'\n', '' ORDER BY line.ordinality) AS lines
        FROM (SELECT DISTINCT partition, uuid FROM unnest(told_of)) AS found
        JOIN unnest(added) WITH ORDINALITY AS line
            ON line.partition = found.partition AND line.key = 'execution:' || found.uuid
        GROUP BY found.partition, found.uuid
    ) AS more
    WHERE execution.partition = more.partition AND execution.uuid = more.uuid;
    INSERT INTO history (partition, key, first, count, lines)
    SELECT line.partition, line.key,
        coalesce((SELECT history.first + history.count FROM history
            WHERE history.partition = line.partition AND history.key = line.key ORDER BY history.first DESC LIMIT 1), 0),
        count(*), string_agg(line.line || E'\n', '' ORDER BY line.ordinality)
    FROM unnest(added) WITH ORDINALITY AS line
    WHERE left(line.key, 10) <> 'execution:'
    GROUP BY line.partition, line.key ORDER BY line.partition, line.key;
    DELETE FROM history USING (
        SELECT DISTINCT line.partition, line.key, last.first + last.count - 1000 AS oldest_shown
        FROM unnest(added) AS line
        CROSS JOIN LATERAL (
            SELECT history.first, history.count FROM history
            WHERE history.partition = line.partition AND history.key = line.key ORDER BY history.first DESC LIMIT 1) AS last
        WHERE last.first + last.count > 1000
    ) AS long
    WHERE history.partition = long.partition AND history.key = long.key AND history.first + history.count <= long.oldest_shown;
END $$;

-- Deletes what is kept for executions beside their records, but for counters.
CREATE FUNCTION delete_remains(remains execution_gone[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM payload USING unnest(remains) AS gone
    WHERE payload.partition = gone.partition AND payload.uuid = gone.uuid;
    UPDATE execution SET history = '', history_first = history_first + history_lines, history_lines = 0
    FROM unnest(remains) AS gone
    WHERE execution.partition = gone.partition AND execution.uuid = gone.uuid AND history_lines > 0;
    DELETE FROM history USING unnest(remains) AS gone
    WHERE history.partition = gone.partition AND history.key = 'execution:' || gone.uuid;
    WITH hidden AS (
        DELETE FROM stream USING unnest(remains) AS gone
        WHERE stream.partition = gone.partition AND stream.uuid = gone.uuid
        RETURNING stream.stream_id
    )
    INSERT INTO deleted_stream (stream_id) SELECT stream_id FROM hidden;
END $$;

-- Deletes the counters of executions and flows that are gone. Those that the call moves are locked with them, in the order in which
-- everybody moves counters: all of them are moved by nothing first.
CREATE FUNCTION delete_counters(remains execution_gone[], deleted_records record_gone[], increments increment[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    counted increment[] := ARRAY(
        SELECT ROW(NULL, counter.partition, counter.owner, counter.name, 0)::increment
        FROM (
            SELECT partition, 'execution:' || uuid AS owner FROM unnest(remains)
            UNION ALL
            SELECT partition, key FROM unnest(deleted_records) WHERE left(key, 5) = 'flow:'
        ) AS gone
        JOIN counter ON counter.partition = gone.partition AND counter.owner = gone.owner);
BEGIN
    IF cardinality(counted) = 0 THEN
        RETURN;
    END IF;
    PERFORM move_counters(counted || ARRAY(SELECT ROW(NULL, partition, owner, name, 0)::increment FROM unnest(increments)));
    DELETE FROM counter USING unnest(counted) AS gone
    WHERE counter.partition = gone.partition AND counter.owner = gone.owner AND counter.name = gone.name;
END $$;

-- Moves counters; what each increment left them at, as if the transactions had come one after the other.
CREATE FUNCTION move_counters(increments increment[]) RETURNS bigint[] LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    left_at bigint[];
BEGIN
    WITH moved AS (
        INSERT INTO counter AS stands (partition, owner, name, value)
        SELECT partition, owner, name, sum(by) FROM unnest(increments)
        GROUP BY partition, owner, name ORDER BY partition, owner, name
        ON CONFLICT (partition, owner, name) DO UPDATE SET value = stands.value + excluded.value
        RETURNING partition, owner, name, value
    ), running AS (
        SELECT one.ordinality, one.partition, one.owner, one.name,
            coalesce(sum(one.by) OVER (PARTITION BY one.partition, one.owner, one.name ORDER BY one.tx, one.ordinality
                ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING), 0) AS later
        FROM unnest(increments) WITH ORDINALITY AS one
    )
    SELECT array_agg((moved.value - running.later)::bigint ORDER BY running.ordinality) INTO left_at
    FROM running JOIN moved USING (partition, owner, name);
    RETURN left_at;
END $$;

-- Asks for records to be looked at; a later nudge has another stamp, and the first one's age. Some are asked for only where a
-- counter stands at zero after their transaction. Nudges that were evaluated go, unless newer ones came, and those of records that are
-- gone. All are locked in one order: where some come and others go, these are put first too, as they stand and at no moment.
CREATE FUNCTION move_nudges(
    nudges nudge_put[], cleared nudge_seen[], deleted execution_gone[], deleted_records record_gone[], increments increment[],
    now bigint
) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    going nudge_seen[] := ARRAY(
        SELECT ROW(gone.partition, gone.key, gone.stamp)::nudge_seen
        FROM (
            SELECT partition, key, stamp FROM unnest(cleared)
            UNION ALL
            SELECT partition, 'execution:' || uuid, NULL FROM unnest(deleted)
            UNION ALL
            SELECT partition, key, NULL FROM unnest(deleted_records)
        ) AS gone
        JOIN nudge ON nudge.partition = gone.partition AND nudge.key = gone.key
        WHERE gone.stamp IS NULL OR nudge.stamp = gone.stamp);
BEGIN
    IF nudges IS NOT NULL THEN
        INSERT INTO nudge (partition, key, stamp, at)
        SELECT DISTINCT ON (partition, key COLLATE "C") partition, key, stamp, at FROM (
            SELECT partition, key, stamp, now AS at, tx FROM unnest(nudges) AS asked
            WHERE asked.zero_owner IS NULL OR 0 = coalesce((
                    SELECT value FROM counter
                    WHERE counter.partition = asked.partition AND counter.owner = asked.zero_owner
                        AND counter.name = asked.zero_name), 0)
                - coalesce((
                    SELECT sum(later.by) FROM unnest(increments) AS later
                    WHERE later.tx > asked.tx AND later.partition = asked.partition AND later.owner = asked.zero_owner
                        AND later.name = asked.zero_name), 0)
            UNION ALL
            SELECT partition, key, coalesce(stamp, 0), 0, -1 FROM unnest(going)
        ) AS moved
        ORDER BY partition, key COLLATE "C", tx DESC
        ON CONFLICT (partition, key) DO UPDATE
        SET stamp = CASE WHEN excluded.at = 0 THEN nudge.stamp ELSE excluded.stamp END;
    END IF;
    IF cardinality(going) > 0 THEN
        DELETE FROM nudge USING (
            SELECT nudge.partition, nudge.key
            FROM unnest(going) AS gone
            JOIN nudge ON nudge.partition = gone.partition AND nudge.key = gone.key
            WHERE gone.stamp IS NULL OR nudge.stamp = gone.stamp
            ORDER BY nudge.partition, nudge.key
            FOR UPDATE OF nudge
        ) AS locked
        WHERE nudge.partition = locked.partition AND nudge.key = locked.key;
    END IF;
END $$;

-- Tells the feeds of partitions what happened. Before anybody has drawn a generation, the moment at which the server was started tells its
-- lines from those of another one.
CREATE FUNCTION tell(lines told[], now bigint, caller caller) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    own_segment    smallint := (now / 14400000) % 8;
    own_xid        bigint := pg_current_xact_id()::text::bigint;
    own_generation integer := coalesce((current_generation(caller) >> 32)::integer,
        hashint8((extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint));
BEGIN
    INSERT INTO feed (segment, partition, xid, number, generation, written_at, key, namespace, lane, kind, flow_id, line)
    SELECT own_segment, partition, own_xid, ordinality, own_generation, now, key, namespace, lane, kind, flow_id, line
    FROM unnest(lines) WITH ORDINALITY;
END $$;
