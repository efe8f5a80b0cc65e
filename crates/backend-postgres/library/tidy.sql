-- Cleaning up behind the calls, little by little.

-- One short run: how many rows it deleted at most of any kind. Whoever comes while another one is at it does nothing. It waits for
-- accounts only, before it has anything else; whatever somebody is using otherwise is passed over.
CREATE FUNCTION tidy(caller caller, at_most bigint, OUT now bigint, OUT deleted bigint) LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    count bigint;
BEGIN
    now := store_now(caller);
    deleted := 0;
    IF NOT pg_try_advisory_xact_lock(1179017570, 1) THEN
        RETURN;
    END IF;
    deleted := tidy_places(at_most);
    UPDATE store SET clock = greatest(clock, now - caller.clock_offset);
    DELETE FROM record USING (
        SELECT partition, key FROM record WHERE expires_at <= now ORDER BY expires_at LIMIT at_most FOR UPDATE SKIP LOCKED
    ) AS gone WHERE record.partition = gone.partition AND record.key = gone.key;
    GET DIAGNOSTICS count = ROW_COUNT;
    deleted := greatest(deleted, count);
    DELETE FROM setting USING (
        SELECT key FROM setting WHERE expires_at <= now ORDER BY expires_at LIMIT at_most FOR UPDATE SKIP LOCKED
    ) AS gone WHERE setting.key = gone.key;
    GET DIAGNOSTICS count = ROW_COUNT;
    deleted := greatest(deleted, count);
    DELETE FROM stream_change USING (
        SELECT change.partition, change.number FROM stream_change AS change
        WHERE EXISTS (SELECT FROM stream_change AS later
            WHERE later.partition = change.partition AND later.number > change.number)
        LIMIT at_most FOR UPDATE SKIP LOCKED
    ) AS gone WHERE stream_change.partition = gone.partition AND stream_change.number = gone.number;
    GET DIAGNOSTICS count = ROW_COUNT;
    deleted := greatest(deleted, count, tidy_seen(now, at_most), tidy_frames(now, at_most), fold_depths(at_most));
END $$;

-- Frames whose time is over, and those of streams that are gone.
CREATE FUNCTION tidy_frames(now bigint, at_most bigint) RETURNS bigint LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    expired bigint;
    orphans bigint;
    gone    bigint;
BEGIN
    WITH over AS (
        SELECT stream_id, millis, sequence FROM frame WHERE expires_at <= now ORDER BY expires_at LIMIT at_most
    ), held AS MATERIALIZED (
        -- Whoever appends has the stream first, and its frames then.
        SELECT stream_id FROM stream WHERE stream_id IN (SELECT stream_id FROM over) FOR UPDATE SKIP LOCKED
    ), deleted AS (
        DELETE FROM frame USING over JOIN held ON held.stream_id = over.stream_id
        WHERE frame.stream_id = over.stream_id AND frame.millis = over.millis AND frame.sequence = over.sequence
        RETURNING frame.stream_id
    ), counted AS (
        UPDATE stream SET frames = frames - fewer.count
        FROM (SELECT stream_id, count(*) FROM deleted GROUP BY stream_id) AS fewer WHERE stream.stream_id = fewer.stream_id
        RETURNING fewer.count
    )
    SELECT count(*) INTO expired FROM deleted;
    SELECT stream_id INTO gone FROM deleted_stream LIMIT 1 FOR UPDATE SKIP LOCKED;
    IF gone IS NULL THEN
        RETURN expired;
    END IF;
    DELETE FROM frame USING (
        SELECT millis, sequence FROM frame WHERE stream_id = gone ORDER BY millis, sequence LIMIT at_most
    ) AS first
    WHERE frame.stream_id = gone AND frame.millis = first.millis AND frame.sequence = first.sequence;
    GET DIAGNOSTICS orphans = ROW_COUNT;
    IF orphans < at_most THEN
        DELETE FROM deleted_stream WHERE stream_id = gone;
        orphans := orphans + 1;
    END IF;
    RETURN expired + orphans;
END $$;

-- Adds up differences of depths, so that they stay few.
CREATE FUNCTION fold_depths(at_most bigint) RETURNS bigint LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    folded bigint;
BEGIN
    IF (SELECT count(*) FROM (SELECT FROM lane_depth LIMIT 1000) AS few) < 1000 THEN
        RETURN 0;
    END IF;
    WITH taken AS (
        DELETE FROM lane_depth WHERE ctid = ANY (ARRAY(SELECT ctid FROM lane_depth LIMIT 20 * at_most FOR UPDATE SKIP LOCKED))
        RETURNING namespace, lane, state, count
    ), summed AS (
        INSERT INTO lane_depth (namespace, lane, state, count)
        SELECT namespace, lane, state, sum(count) FROM taken GROUP BY namespace, lane, state HAVING sum(count) <> 0
        RETURNING 1
    )
    SELECT count(*) INTO folded FROM taken;
    RETURN 0;
END $$;
