-- reserve: takes the best eligible executions of some queues for one worker.
--
-- Which queues those are the caller says: here is only the atomic step and its stamp. Candidates are found without locks, then locked
-- in their order where they were seen: whatever somebody else is changing is passed over. What a hand-out does to the record is not worked
-- out here: the claim is kept beside the body, and whoever reads both applies the rule to them.
--
-- Answers a row for each that was handed out, with the place of its claimant, and what the call came to; then one for each queue, with the
-- head it is left with, also if somebody else is taking it.
CREATE FUNCTION reserve(
    caller          caller,
    own_tag         bigint,
    may_lease       boolean,
    bytes_max       bigint,
    is_first        boolean,
    passing         text[],
    -- Who gets something: the text of a claim, how long a lease and a grant last, and what a lease is known by.
    claims          text[],
    lease_ms        bigint[],
    grant_ms        bigint[],
    actors          text[],
    workers         text[],
    lease_ids       uuid[],
    attempt_ids     uuid[],
    -- Queues to look into: the place of the lane among those that are tried, the score below which the caller knows of nothing, and the
    -- one from which on something must wait.
    lanes           integer[],
    partitions      smallint[],
    queue_ids       bigint[],
    floors          bigint[],
    bounds          bigint[]
) RETURNS TABLE (
    now             bigint,
    -- Whether there was more than may be handed out at once, and how many entries of queues were looked at.
    is_full         boolean,
    visited         integer,
    source          integer,
    head            bigint,
    number          integer,
    own_partition   smallint,
    version         bigint,
    body            text,
    at              bigint,
    is_lease        boolean,
    due_at          bigint,
    gate            text,
    gate_version    bigint,
    gate_tag        bigint,
    content_type    text,
    input           bytea
) LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    wanted     integer := cardinality(claims);
    -- Twice as many: others may be taking some of them.
    worth      integer := 2 * cardinality(claims);
    few        integer := 2 + worth / cardinality(queue_ids);
    last_lane  integer;
    last_score bigint;
    seen       candidate[];
    firsts     bigint[];
    taken      taken[];
    gates      gate[] := '{}';
    outcomes   handed_out[];
BEGIN
    -- Whoever looks into a queue from its beginning walks along everything that was taken from it and cannot be cleaned up yet: that is
    -- done once, and only by who does not know better. The first few of every queue tell how far the best of all reach at most, and only a
    -- queue that has more until there is read on.
    seen := ARRAY(
        SELECT ROW(source.ordinality, source.lane, source.partition, source.queue_id, first.score, first.uuid, first.place)::candidate
        FROM unnest(lanes, partitions, queue_ids, floors, bounds) WITH ORDINALITY
            AS source (lane, partition, queue_id, floor, bound, ordinality)
        LEFT JOIN LATERAL (
            SELECT queued.score, queued.uuid, row_number() OVER (ORDER BY queued.score, queued.uuid) AS place FROM queued
            WHERE queued.partition = source.partition AND queued.queue_id = source.queue_id
                AND queued.score >= coalesce(source.floor, -9223372036854775808)
                AND queued.score < coalesce(source.bound, 9223372036854775807)
            ORDER BY queued.score, queued.uuid LIMIT few
        ) AS first ON true);
    firsts := ARRAY(SELECT min(one.score) FROM unnest(seen) AS one GROUP BY one.source ORDER BY one.source);
    SELECT one.lane, one.score INTO last_lane, last_score FROM unnest(seen) AS one
    WHERE one.score IS NOT NULL ORDER BY one.lane, one.score OFFSET worth - 1 LIMIT 1;
    seen := seen || ARRAY(
        SELECT ROW(one.source, one.lane, one.partition, one.queue_id, next.score, next.uuid, NULL)::candidate
        FROM unnest(seen) AS one
        CROSS JOIN LATERAL (
            SELECT queued.score, queued.uuid FROM queued
            WHERE queued.partition = one.partition AND queued.queue_id = one.queue_id
                AND (queued.score, queued.uuid) > (one.score, one.uuid)
                AND queued.score < coalesce(
                    least(bounds[one.source], CASE WHEN one.lane = last_lane THEN last_score + 1 END), 9223372036854775807)
            ORDER BY queued.score, queued.uuid LIMIT worth
        ) AS next
        WHERE one.place = few AND one.lane <= coalesce(last_lane, one.lane));
    -- Whatever still stands where it was seen, and was not changed since this statement began: whoever changed it has a later number than
    -- this call, and readers of events would be told of the claim first.
    taken := ARRAY(
        SELECT ROW(found.partition, found.uuid, found.queue_id, found.score, found.updated_at, found.is_free, found.due_cap, found.due_at,
            found.state, found.namespace, found.lane, found.kind, found.flow_id, found.lease_epoch, found.attempt_index,
            found.attempt_id, found.input_bytes)::taken
        FROM (
            SELECT one.* FROM unnest(seen) AS one
            WHERE one.score IS NOT NULL AND one.lane <= coalesce(last_lane, one.lane)
            ORDER BY one.lane, one.score, one.uuid LIMIT worth
        ) AS candidate
        CROSS JOIN LATERAL (
            SELECT version, tag FROM execution
            WHERE execution.partition = candidate.partition AND execution.uuid = candidate.uuid
                AND execution.queue_id = candidate.queue_id AND execution.score = candidate.score
        ) AS stood
        CROSS JOIN LATERAL (
            SELECT * FROM execution
            WHERE execution.partition = candidate.partition AND execution.uuid = candidate.uuid
                AND execution.version = stood.version AND execution.tag = stood.tag
            FOR UPDATE SKIP LOCKED
        ) AS found
        ORDER BY candidate.lane, candidate.score, candidate.uuid
        LIMIT wanted);
    visited := few * cardinality(queue_ids) + least(cardinality(seen), worth);
    is_full := false;
    IF (SELECT sum(task.input_bytes) FROM unnest(taken) AS task) > bytes_max THEN
        wanted := (
            SELECT count(*) FROM (
                SELECT sum(input_bytes) OVER (ORDER BY ordinality) AS bytes, ordinality FROM unnest(taken) WITH ORDINALITY
            ) AS running
            WHERE bytes <= bytes_max OR (is_first AND ordinality = 1));
        is_full := wanted < cardinality(taken);
        taken := taken[:wanted];
    END IF;
    IF EXISTS (SELECT FROM unnest(taken) AS task WHERE task.flow_id IS NOT NULL) THEN
        -- A gate that somebody is changing is not known, and counts as closed: what waits behind it is granted, and looked at once more.
        gates := ARRAY(
            SELECT ROW(found.partition, member.flow_id, found.body::json ->> 'state', found.version, found.tag)::gate
            FROM (SELECT DISTINCT partition, flow_id FROM unnest(taken) WHERE flow_id IS NOT NULL) AS member
            CROSS JOIN LATERAL (
                SELECT * FROM record WHERE record.partition = member.partition AND record.key = 'gate:' || member.flow_id
                FOR SHARE SKIP LOCKED
            ) AS found);
    END IF;
    now := store_now(caller);
    IF cardinality(taken) > 0 THEN
        outcomes := ARRAY(
            SELECT ROW(number, partition, uuid, queue_id, score, due_at, state, namespace, lane, kind, flow_id, at, is_lease, gate,
                gate_version, gate_tag,
                CASE WHEN due_cap = 0 THEN at
                    ELSE least(at + CASE WHEN is_lease THEN lease_ms[number] ELSE grant_ms[number] END, due_cap) END,
                lease_epoch + is_lease::integer, coalesce(attempt_id, attempt_ids[number]),
                '{"at":' || at || ',"what":"claimed","actor":' || actors[number] || ',"attempt_index":' || attempt_index
                    || ',"lease_epoch":' || lease_epoch + 1 || coalesce(',"flow_id":"' || flow_id || '"', '') || '}')::handed_out
            FROM (
                SELECT task.*, task.ordinality::integer AS number, greatest(now, task.updated_at) AS at,
                    may_lease AND task.is_free AND (task.flow_id IS NULL OR coalesce(gate.state = ANY (passing), false)) AS is_lease,
                    CASE WHEN task.flow_id IS NOT NULL THEN coalesce(gate.state, 'assembling') END AS gate,
                    gate.version AS gate_version, gate.tag AS gate_tag
                FROM unnest(taken) WITH ORDINALITY AS task
                LEFT JOIN unnest(gates) AS gate ON gate.partition = task.partition AND gate.flow_id = task.flow_id
            ) AS decided);
        RETURN QUERY
        WITH stamped AS (
            UPDATE execution SET version = execution.version + 1, tag = own_tag, updated_at = outcome.at, due_at = outcome.due_at,
                queue_id = NULL, score = NULL,
                claim = outcome.at || CASE WHEN outcome.is_lease THEN ' lease ' ELSE ' grant ' END || coalesce(outcome.gate, '-')
                    || ' ' || claims[outcome.number],
                -- Only a lease changes what is seen of it; a grant is looked at once more.
                state = CASE WHEN outcome.is_lease THEN 'active' ELSE execution.state END,
                blocking_reason = CASE WHEN outcome.is_lease THEN 'none' ELSE execution.blocking_reason END,
                blocking_detail = CASE WHEN NOT outcome.is_lease THEN execution.blocking_detail END,
                worker = CASE WHEN outcome.is_lease THEN workers[outcome.number] ELSE execution.worker END,
                lease_epoch = outcome.lease_epoch,
                lease_id = CASE WHEN outcome.is_lease THEN lease_ids[outcome.number] ELSE execution.lease_id END,
                lease_expires_at = CASE WHEN outcome.is_lease THEN outcome.at + lease_ms[outcome.number]
                    ELSE execution.lease_expires_at END,
                attempt_id = CASE WHEN outcome.is_lease THEN outcome.attempt_id ELSE execution.attempt_id END,
                is_attempt_over = execution.is_attempt_over AND NOT outcome.is_lease,
                history = CASE WHEN outcome.is_lease THEN execution.history || outcome.line || E'\n' ELSE execution.history END,
                history_lines = execution.history_lines + outcome.is_lease::integer
            FROM unnest(outcomes) AS outcome
            WHERE execution.partition = outcome.partition AND execution.uuid = outcome.uuid
            RETURNING outcome.number, execution.partition, execution.uuid, execution.version, execution.body, outcome.at, outcome.is_lease,
                outcome.due_at, outcome.gate, outcome.gate_version, outcome.gate_tag
        )
        SELECT now, is_full, visited, NULL::integer, NULL::bigint, stamped.number, stamped.partition, stamped.version, stamped.body,
            stamped.at, stamped.is_lease, stamped.due_at, stamped.gate, stamped.gate_version, stamped.gate_tag,
            payload.content_type, payload.bytes
        FROM stamped
        LEFT JOIN payload
            ON payload.partition = stamped.partition AND payload.uuid = stamped.uuid AND payload.name = 'input';
        PERFORM follow_claims(outcomes, now, caller);
    END IF;
    RETURN QUERY
    SELECT now, is_full, visited, source.ordinality::integer, (
            SELECT queued.score FROM queued
            WHERE queued.partition = source.partition AND queued.queue_id = source.queue_id AND queued.score >= source.first
            ORDER BY queued.score LIMIT 1),
        NULL::integer, NULL::smallint, NULL::bigint, NULL::text, NULL::bigint, NULL::boolean, NULL::bigint, NULL::text, NULL::bigint,
        NULL::bigint, NULL::text, NULL::bytea
    FROM (
        SELECT asked.*, coalesce(asked.score, asked.bound) AS first
        FROM unnest(partitions, queue_ids, firsts, bounds) WITH ORDINALITY
            AS asked (partition, queue_id, score, bound, ordinality)
    ) AS source;
END $$;
