-- reserve: takes the best eligible executions of some queues for one worker.
--
-- Which queues those are the caller says: here is only the atomic step and its stamp. Candidates are found without locks, then locked
-- in their order where they were seen: whatever somebody else is changing is passed over. What a hand-out does to the record is not worked
-- out here: the claim is kept beside the body, and whoever reads both applies the rule to them.
--
-- Answers what was handed out, to the first claimants in their order; the heads of the queues as they are left, of those too that
-- somebody else is taking; whether there was more than may be handed out at once; and how many entries of queues were looked at.
CREATE FUNCTION reserve(
    caller          caller,
    own_tag         bigint,
    may_lease       boolean,
    bytes_max       bigint,
    is_first        boolean,
    passing         text[],
    claimants       claimant[],
    sources         source[],
    OUT now         bigint,
    OUT tasks       task[],
    OUT heads       source_head[],
    OUT is_full     boolean,
    OUT visited     integer
) LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    wanted     integer := cardinality(claimants);
    -- Twice as many: others may be taking some of them.
    worth      integer := 2 * cardinality(claimants);
    few        integer := 2 + worth / cardinality(sources);
    last_lane  integer;
    last_score bigint;
    candidates candidate[];
    taken      taken[];
    outcomes   handed_out[];
    gates      gate[] := '{}';
    fitting    integer;
BEGIN
    -- The first few of every queue tell how far the best of all reach at most; nothing is read beyond that.
    SELECT source.lane, first.score INTO last_lane, last_score
    FROM unnest(sources) AS source
    CROSS JOIN LATERAL (
        SELECT queued.score FROM queued
        WHERE queued.partition = source.partition AND queued.queue_id = source.queue_id
            AND queued.score < coalesce(source.bound, 9223372036854775807)
        ORDER BY queued.score LIMIT few
    ) AS first
    ORDER BY source.lane, first.score OFFSET worth - 1 LIMIT 1;
    candidates := ARRAY(
        SELECT ROW(source.partition, source.queue_id, best.score, best.uuid)::candidate
        FROM unnest(sources) AS source
        CROSS JOIN LATERAL (
            SELECT queued.score, queued.uuid FROM queued
            WHERE queued.partition = source.partition AND queued.queue_id = source.queue_id
                AND queued.score < coalesce(
                    least(source.bound, CASE WHEN source.lane = last_lane THEN last_score + 1 END), 9223372036854775807)
            ORDER BY queued.score, queued.uuid LIMIT worth
        ) AS best
        WHERE source.lane <= coalesce(last_lane, source.lane)
        ORDER BY source.lane, best.score, best.uuid LIMIT worth);
    visited := few * cardinality(sources) + cardinality(candidates);
    -- Whatever still stands where it was seen, and was not changed since this statement began: whoever changed it has a later number than
    -- this call, and readers of events would be told of the claim first.
    taken := ARRAY(
        SELECT ROW(found.partition, found.uuid, found.version, found.tag, found.body, found.queue_id, found.score, found.updated_at,
            found.is_free, found.due_cap, found.due_at, found.state, found.namespace, found.lane, found.kind, found.flow_id,
            found.lease_epoch, found.attempt_index, found.attempt_id, found.input_bytes)::taken
        FROM unnest(candidates) WITH ORDINALITY AS candidate
        CROSS JOIN LATERAL (
            SELECT version, tag FROM execution
            WHERE execution.partition = candidate.partition AND execution.uuid = candidate.uuid
                AND execution.queue_id = candidate.queue_id AND execution.score = candidate.score
        ) AS seen
        CROSS JOIN LATERAL (
            SELECT * FROM execution
            WHERE execution.partition = candidate.partition AND execution.uuid = candidate.uuid
                AND execution.version = seen.version AND execution.tag = seen.tag
            FOR UPDATE SKIP LOCKED
        ) AS found
        ORDER BY candidate.ordinality
        LIMIT wanted);
    fitting := (
        SELECT count(*) FROM (
            SELECT sum(input_bytes) OVER (ORDER BY ordinality) AS bytes, ordinality FROM unnest(taken) WITH ORDINALITY
        ) AS running
        WHERE bytes <= bytes_max OR (is_first AND ordinality = 1));
    is_full := fitting < cardinality(taken);
    taken := taken[:fitting];
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
    IF fitting > 0 THEN
        outcomes := ARRAY(
            SELECT ROW(number, at, is_lease, gate, gate_version, gate_tag,
                CASE WHEN due_cap = 0 THEN at ELSE least(at + CASE WHEN is_lease THEN lease_ms ELSE grant_ms END, due_cap) END,
                lease_epoch + is_lease::integer, attempt_id)::handed_out
            FROM (
                SELECT task.ordinality AS number, greatest(now, task.updated_at) AS at, task.due_cap, task.lease_epoch,
                    coalesce(task.attempt_id, claimant.attempt_id) AS attempt_id,
                    may_lease AND task.is_free AND (task.flow_id IS NULL OR coalesce(gate.state = ANY (passing), false)) AS is_lease,
                    CASE WHEN task.flow_id IS NOT NULL THEN coalesce(gate.state, 'assembling') END AS gate,
                    gate.version AS gate_version, gate.tag AS gate_tag, claimant.lease_ms, claimant.grant_ms
                FROM unnest(taken) WITH ORDINALITY AS task
                CROSS JOIN LATERAL (SELECT (claimants[task.ordinality]).*) AS claimant
                LEFT JOIN unnest(gates) AS gate ON gate.partition = task.partition AND gate.flow_id = task.flow_id
            ) AS decided
            ORDER BY number);
        PERFORM stamp(own_tag, taken, outcomes, claimants, now, caller);
        tasks := ARRAY(
            SELECT ROW(task.partition, task.version, task.tag, task.body, outcome.at, outcome.is_lease, outcome.due_at,
                outcome.gate, outcome.gate_version, outcome.gate_tag, input.content_type, input.bytes)::task
            FROM unnest(taken) WITH ORDINALITY AS task
            CROSS JOIN LATERAL (SELECT (outcomes[task.ordinality]).*) AS outcome
            LEFT JOIN LATERAL (
                SELECT payload.content_type, payload.bytes FROM payload
                WHERE payload.partition = task.partition AND payload.uuid = task.uuid AND payload.name = 'input' OFFSET 0
            ) AS input ON true
            ORDER BY task.ordinality);
    END IF;
    heads := ARRAY(
        SELECT ROW(source.lane, source.partition, source.queue_id, (
            SELECT queued.score FROM queued WHERE queued.partition = source.partition AND queued.queue_id = source.queue_id
            ORDER BY queued.score LIMIT 1))::source_head
        FROM unnest(sources) AS source);
END $$;
