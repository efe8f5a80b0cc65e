-- feed: the lines of feeds from where a reader wants them, in the order of the transactions that wrote them.
--
-- A line is shown once every transaction with a smaller number has ended: whoever stops there misses nothing that commits later.
-- `is_behind` says that nothing is shown although something is there. `expired` is a feed that does not hold all there ever was from where it is asked for, with its oldest line.
CREATE FUNCTION feed(
    caller caller, starts feed_start[], at_most bigint, kept_ms bigint,
    OUT now bigint, OUT answer feed_line[], OUT is_behind boolean, OUT expired smallint, OUT oldest feed_line
) LANGUAGE plpgsql STABLE SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    ended    bigint := pg_snapshot_xmin(pg_current_snapshot())::text::bigint;
    -- Segments that may have something after the least of the positions.
    segments smallint[];
    least_xid bigint;
BEGIN
    now := store_now(caller);
    expired := (
        SELECT start.partition FROM unnest(starts) AS start
        LEFT JOIN feed_trimmed AS trimmed ON trimmed.partition = start.partition
        WHERE CASE start.what
            WHEN 'since' THEN trimmed.trimmed_at >= start.at AND trimmed.written_at + kept_ms > start.at
            WHEN 'from' THEN trimmed.written_at >= start.at
            WHEN 'after' THEN NOT EXISTS (
                    SELECT FROM feed WHERE feed.partition = start.partition AND feed.xid = start.xid AND feed.number = start.number
                        AND feed.generation = start.generation)
                AND coalesce((trimmed.xid, trimmed.number) <> (start.xid, start.number), true)
            ELSE false END
        LIMIT 1);
    IF expired IS NOT NULL THEN
        -- None, where nothing is left: read into a row, that would be a line of nothing.
        oldest := (
            SELECT ROW(partition, xid, number, generation, key, namespace, lane, kind, flow_id, line)::feed_line
            FROM feed WHERE partition = expired AND xid < ended ORDER BY xid, number LIMIT 1);
        RETURN;
    END IF;
    least_xid := (SELECT min(coalesce(start.xid, 0)) FROM unnest(starts) AS start);
    segments := ARRAY(
        SELECT own FROM generate_series(0, 7) AS own
        WHERE NOT EXISTS (SELECT FROM feed_segment WHERE segment = own AND last_xid < least_xid));
    answer := ARRAY(
        SELECT ROW(start.partition, line.xid, line.number, line.generation, line.key, line.namespace, line.lane, line.kind,
            line.flow_id, line.line)::feed_line
        FROM unnest(starts) AS start
        CROSS JOIN LATERAL (
            SELECT * FROM feed
            WHERE feed.segment = ANY (segments) AND feed.partition = start.partition
                AND (feed.xid, feed.number) > (coalesce(start.xid, -1), coalesce(start.number, 0)) AND feed.xid < ended
                AND (start.what <> 'from' OR feed.written_at >= start.at)
            ORDER BY feed.xid, feed.number LIMIT at_most
        ) AS line
        ORDER BY line.xid, line.number LIMIT at_most);
    is_behind := cardinality(answer) = 0 AND EXISTS (
        SELECT FROM unnest(starts) AS start
        CROSS JOIN LATERAL (
            SELECT feed.xid FROM feed WHERE feed.segment = ANY (segments) AND feed.partition = start.partition
            ORDER BY feed.xid DESC LIMIT 1
        ) AS last
        WHERE last.xid >= ended);
END $$;

-- For each partition something that changes with its feed and its streams. A stream that ends has a line in the feed.
CREATE FUNCTION marks(caller caller, partitions smallint[], OUT now bigint, OUT answer text[])
LANGUAGE plpgsql STABLE SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    segments smallint[];
BEGIN
    now := store_now(caller);
    segments := ARRAY(SELECT own FROM generate_series(0, 7) AS own
        WHERE NOT EXISTS (SELECT FROM feed_segment WHERE segment = own AND last_xid IS NOT NULL));
    answer := ARRAY(
        SELECT coalesce((
            SELECT feed.xid || '-' || feed.number FROM feed
            WHERE feed.segment = ANY (segments) AND feed.partition = asked.partition
            ORDER BY feed.xid DESC, feed.number DESC LIMIT 1), '') || coalesce((
            SELECT ' ' || change.number FROM stream_change AS change WHERE change.partition = asked.partition
            ORDER BY change.number DESC LIMIT 1), '')
        FROM unnest(partitions) WITH ORDINALITY AS asked (partition) ORDER BY asked.ordinality);
END $$;

-- Now and then: segments that nobody writes to any more are noted, and one whose lines are all too old is emptied, with the last line of
-- each partition kept in mind.
CREATE FUNCTION tidy_feed(caller caller, kept_ms bigint, OUT now bigint) LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    own    smallint;
    newest bigint;
BEGIN
    now := store_now(caller);
    -- Two would wait for each other: for the lines that are kept in mind, and for the segment to empty.
    IF NOT pg_try_advisory_xact_lock(1179017570, 3) THEN
        RETURN;
    END IF;
    FOR own IN SELECT generate_series(0, 7) LOOP
        EXECUTE format('SELECT max(last.written_at) FROM (
            WITH RECURSIVE line AS (
                (SELECT partition, xid, number, written_at FROM feed_%1$s ORDER BY partition DESC, xid DESC, number DESC LIMIT 1)
                UNION ALL
                SELECT next.* FROM line CROSS JOIN LATERAL (
                    SELECT partition, xid, number, written_at FROM feed_%1$s WHERE partition < line.partition
                    ORDER BY partition DESC, xid DESC, number DESC LIMIT 1) AS next
            ) SELECT written_at FROM line) AS last', own) INTO newest;
        IF newest IS NULL THEN
            DELETE FROM feed_segment WHERE segment = own;
        ELSIF newest + kept_ms <= now THEN
            EXECUTE format('INSERT INTO feed_trimmed (partition, xid, number, written_at, trimmed_at)
                SELECT DISTINCT ON (partition) partition, xid, number, written_at, $1 FROM feed_%s
                ORDER BY partition, xid DESC, number DESC
                ON CONFLICT (partition) DO UPDATE SET xid = excluded.xid, number = excluded.number,
                    written_at = excluded.written_at, trimmed_at = excluded.trimmed_at', own) USING now;
            EXECUTE format('TRUNCATE feed_%s', own);
            DELETE FROM feed_segment WHERE segment = own;
        ELSIF newest < (now / 14400000 - 1) * 14400000 THEN
            INSERT INTO feed_segment (segment, last_xid)
            VALUES (own, pg_snapshot_xmax(pg_current_snapshot())::text::bigint) ON CONFLICT DO NOTHING;
        ELSE
            DELETE FROM feed_segment WHERE segment = own;
        END IF;
    END LOOP;
END $$;

-- Empties a feed that another cluster has written and a dump has brought in, if it was ahead of this one: until the transactions here have
-- reached its numbers, nobody would be shown what they write. Whoever read it there is told that it has expired.
CREATE FUNCTION empty_foreign_feed(now bigint) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
#variable_conflict use_column
BEGIN
    PERFORM pg_advisory_xact_lock(1179017570, 3);
    IF coalesce((SELECT max(xid) FROM feed), 0) < pg_snapshot_xmax(pg_current_snapshot())::text::bigint
        AND coalesce((SELECT max(last_xid) FROM feed_segment), 0) <= pg_snapshot_xmax(pg_current_snapshot())::text::bigint
    THEN
        RETURN;
    END IF;
    INSERT INTO feed_trimmed (partition, xid, number, written_at, trimmed_at)
    SELECT partition, 0, 0, max(written_at), now FROM feed GROUP BY partition
    ON CONFLICT (partition) DO UPDATE SET written_at = excluded.written_at, trimmed_at = excluded.trimmed_at;
    UPDATE feed_trimmed SET xid = 0, number = 0;
    TRUNCATE feed, feed_segment;
END $$;
