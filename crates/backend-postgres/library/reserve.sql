-- reserve: takes the best eligible executions of some queues for one worker.
--
-- Which queues those are the caller says: here is only the atomic step and its stamp. Candidates are found without locks, then locked
-- in their order as they were seen: whatever somebody else is changing is passed over. What a hand-out does to the record is not worked
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
    candidates candidate[];
    taken      taken[];
    outcomes   handed_out[];
    gates      gate[] := '{}';
    fitting    integer;
BEGIN
    candidates := ARRAY(
        SELECT ROW(waiting.partition, waiting.uuid, found.version, found.tag, (
            SELECT octet_length(payload.bytes) FROM payload
            WHERE payload.partition = found.partition AND payload.uuid = found.uuid AND payload.name = 'input'))::candidate
        FROM (
            SELECT source.lane, source.partition, best.score, best.uuid
            FROM unnest(sources) AS source
            CROSS JOIN LATERAL (
                SELECT queued.score, queued.uuid FROM queued
                WHERE queued.partition = source.partition AND queued.queue_id = source.queue_id
                    AND (source.bound IS NULL OR queued.score < source.bound)
                ORDER BY queued.score, queued.uuid LIMIT 2 * wanted
            ) AS best
            ORDER BY source.lane, best.score, best.uuid LIMIT 2 * wanted
        ) AS waiting
        JOIN execution AS found ON found.partition = waiting.partition AND found.uuid = waiting.uuid
        ORDER BY waiting.lane, waiting.score, waiting.uuid);
    visited := cardinality(sources) + cardinality(candidates);
    taken := ARRAY(
        SELECT ROW(found.partition, found.uuid, found.version, found.tag, found.body, found.queue_id, found.score, found.updated_at,
            found.is_free, found.due_cap, found.due_at, found.state, found.namespace, found.lane, found.kind, found.flow_id,
            found.lease_epoch, found.attempt_index, found.attempt_id, candidate.input_bytes)::taken
        FROM unnest(candidates) WITH ORDINALITY AS candidate
        JOIN execution AS found ON found.partition = candidate.partition AND found.uuid = candidate.uuid
            AND found.version = candidate.version AND found.tag = candidate.tag AND found.queue_id IS NOT NULL
        ORDER BY candidate.ordinality
        LIMIT wanted
        FOR UPDATE OF found SKIP LOCKED);
    fitting := (
        SELECT count(*) FROM (
            SELECT sum(coalesce(task.input_bytes, 0)) OVER (ORDER BY task.ordinality) AS bytes, task.ordinality
            FROM unnest(taken) WITH ORDINALITY AS task
        ) AS running
        WHERE bytes <= bytes_max OR (is_first AND ordinality = 1));
    is_full := fitting < cardinality(taken);
    taken := taken[:fitting];
    IF EXISTS (SELECT FROM unnest(taken) AS task WHERE task.flow_id IS NOT NULL) THEN
        -- A gate that somebody is changing is not known: what waits behind it is granted, and looked at once more.
        gates := ARRAY(
            SELECT ROW(found.partition, member.flow_id, found.body::json ->> 'state', found.version, found.tag)::gate
            FROM (SELECT DISTINCT partition, flow_id FROM unnest(taken) WHERE flow_id IS NOT NULL) AS member
            JOIN record AS found ON found.partition = member.partition AND found.key = 'gate:' || member.flow_id
            ORDER BY found.partition, found.key
            FOR SHARE OF found SKIP LOCKED);
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
                    gate.state AS gate, gate.version AS gate_version, gate.tag AS gate_tag, claimant.lease_ms, claimant.grant_ms
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
            LEFT JOIN payload AS input
                ON input.partition = task.partition AND input.uuid = task.uuid AND input.name = 'input'
            ORDER BY task.ordinality);
    END IF;
    heads := ARRAY(
        SELECT ROW(source.lane, source.partition, source.queue_id, (
            SELECT queued.score FROM queued WHERE queued.partition = source.partition AND queued.queue_id = source.queue_id
            ORDER BY queued.score LIMIT 1))::source_head
        FROM unnest(sources) AS source);
END $$;
