-- append: frames in their order, each only under the live lease it names. The execution is held meanwhile, so that no frame comes after
-- the end of its stream, and alone, so that whoever appends to several streams has them in one order.
CREATE FUNCTION append(caller caller, frames frame_put[], OUT now bigint, OUT outcomes frame_outcome[])
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    put frame_put;
BEGIN
    PERFORM FROM (SELECT DISTINCT partition, uuid FROM unnest(frames) ORDER BY partition, uuid) AS put
    CROSS JOIN LATERAL (
        SELECT version FROM execution WHERE execution.partition = put.partition AND execution.uuid = put.uuid FOR UPDATE
    ) AS held;
    now := store_now(caller);
    outcomes := '{}';
    FOREACH put IN ARRAY frames LOOP
        outcomes := outcomes || append_one(put, now);
    END LOOP;
    INSERT INTO stream_change (partition)
    SELECT DISTINCT put.partition FROM unnest(frames) WITH ORDINALITY AS put
    WHERE (outcomes[put.ordinality]).what = 'appended';
END $$;

CREATE FUNCTION append_one(put frame_put, now bigint) RETURNS frame_outcome LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    holder execution;
    own    stream;
    gone   bigint;
    place  frame;
BEGIN
    SELECT * INTO holder FROM execution WHERE execution.partition = put.partition AND execution.uuid = put.uuid;
    IF holder.attempt_index IS NULL THEN
        RETURN ROW('stale', NULL, NULL, NULL, NULL)::frame_outcome;
    END IF;
    IF put.attempt_index < holder.attempt_index OR (put.attempt_index = holder.attempt_index AND holder.is_attempt_over) THEN
        RETURN ROW('closed', NULL, NULL, NULL, NULL)::frame_outcome;
    END IF;
    IF put.attempt_index <> holder.attempt_index OR holder.lease_expires_at IS NULL OR holder.lease_expires_at <= now
        OR (put.lease_epoch, put.lease_id, put.attempt_id) IS DISTINCT FROM (holder.lease_epoch, holder.lease_id, holder.attempt_id)
    THEN
        RETURN ROW('stale', NULL, NULL, NULL, NULL)::frame_outcome;
    END IF;
    INSERT INTO stream (partition, uuid, attempt_index) VALUES (put.partition, put.uuid, put.attempt_index)
    ON CONFLICT (partition, uuid, attempt_index) DO NOTHING;
    SELECT * INTO own FROM stream
    WHERE stream.partition = put.partition AND stream.uuid = put.uuid AND stream.attempt_index = put.attempt_index FOR UPDATE;
    DELETE FROM frame WHERE frame.stream_id = own.stream_id AND frame.expires_at <= now;
    GET DIAGNOSTICS gone = ROW_COUNT;
    own.frames := own.frames - gone;
    IF put.key IS NOT NULL THEN
        SELECT * INTO place FROM frame WHERE frame.stream_id = own.stream_id AND frame.key = put.key;
    END IF;
    IF gone > 0 AND (place.stream_id IS NOT NULL OR put.summary_revision <> own.summary_revision) THEN
        UPDATE stream SET frames = own.frames WHERE stream.stream_id = own.stream_id;
    END IF;
    IF place.stream_id IS NOT NULL THEN
        RETURN ROW('repeated', place.millis, place.sequence, own.frames, NULL)::frame_outcome;
    END IF;
    IF put.summary_revision <> own.summary_revision THEN
        RETURN ROW('summary', NULL, NULL, NULL, own.summary_revision)::frame_outcome;
    END IF;
    IF now > own.last_millis THEN
        own.last_millis := now;
        own.last_sequence := 0;
    ELSE
        own.last_sequence := own.last_sequence + 1;
    END IF;
    INSERT INTO frame (stream_id, millis, sequence, frame_type, correlation_id, expires_at, content_type, bytes, key)
    VALUES (own.stream_id, own.last_millis, own.last_sequence, put.frame_type, put.correlation_id, now + put.ttl_ms,
        put.content_type, put.bytes, put.key);
    own.frames := own.frames + 1;
    IF put.keep_for_ms IS NOT NULL THEN
        DELETE FROM frame WHERE frame.stream_id = own.stream_id AND frame.millis < now - put.keep_for_ms;
        GET DIAGNOSTICS gone = ROW_COUNT;
        own.frames := own.frames - gone;
    END IF;
    IF own.frames > put.keep_frames THEN
        DELETE FROM frame USING (
            SELECT first.millis, first.sequence FROM frame AS first WHERE first.stream_id = own.stream_id
            ORDER BY first.millis, first.sequence LIMIT own.frames - put.keep_frames
        ) AS surplus
        WHERE frame.stream_id = own.stream_id AND frame.millis = surplus.millis AND frame.sequence = surplus.sequence;
        own.frames := put.keep_frames;
    END IF;
    UPDATE stream SET frames = own.frames, last_millis = own.last_millis, last_sequence = own.last_sequence,
        summary = coalesce(put.summary, stream.summary),
        summary_revision = stream.summary_revision + (put.summary IS NOT NULL)::integer
    WHERE stream.stream_id = own.stream_id;
    RETURN ROW('appended', own.last_millis, own.last_sequence, own.frames, NULL)::frame_outcome;
END $$;
