-- load: records, counters and bytes, all as they stood at one moment: what a stable function asks sees what its caller's statement does.
CREATE FUNCTION load(
    caller          caller,
    executions   asked_execution[],
    records      asked_record[],
    counters     asked_counter[],
    payloads     asked_payload[],
    steps        asked_steps[],
    OUT now              bigint,
    OUT generation       bigint,
    OUT reached          bigint,
    OUT found_executions found_record[],
    OUT found_records    found_record[],
    OUT found_gates      found_gate[],
    OUT found_counters   bigint[],
    OUT found_payloads   found_payload[],
    OUT found_steps      found_step[]
) LANGUAGE plpgsql STABLE SET search_path FROM CURRENT AS $$
#variable_conflict use_column
BEGIN
    now := store_now(caller);
    generation := current_generation(caller);
    reached := log_position();
    IF executions IS NOT NULL THEN
        found_executions := ARRAY(
            SELECT ROW(asked.ordinality, found.version, found.tag, found.body, found.claim, nudge.stamp)::found_record
            FROM unnest(executions) WITH ORDINALITY AS asked
            LEFT JOIN execution AS found ON found.partition = asked.partition AND found.uuid = asked.uuid
            LEFT JOIN nudge ON nudge.partition = asked.partition AND nudge.key = 'execution:' || asked.uuid
            WHERE found.version IS NOT NULL OR nudge.stamp IS NOT NULL);
        found_gates := ARRAY(
            SELECT ROW(asked.ordinality, member.flow_id, found.version, found.tag, found.body)::found_gate
            FROM unnest(executions) WITH ORDINALITY AS asked
            JOIN execution AS member ON member.partition = asked.partition AND member.uuid = asked.uuid
            JOIN record AS found ON found.partition = asked.partition AND found.key = 'gate:' || member.flow_id
            WHERE asked.with_gate AND member.flow_id IS NOT NULL);
    END IF;
    IF records IS NOT NULL THEN
        found_records := ARRAY(
            SELECT ROW(asked.ordinality, found.version, found.tag, found.body, '', nudge.stamp)::found_record
            FROM unnest(records) WITH ORDINALITY AS asked
            LEFT JOIN record AS found ON found.partition = asked.partition AND found.key = asked.key
                AND (found.expires_at IS NULL OR found.expires_at > now)
            LEFT JOIN nudge ON nudge.partition = asked.partition AND nudge.key = asked.key
            WHERE found.version IS NOT NULL OR nudge.stamp IS NOT NULL);
    END IF;
    IF counters IS NOT NULL THEN
        found_counters := ARRAY(
            SELECT coalesce(counter.value, 0)
            FROM unnest(counters) WITH ORDINALITY AS asked
            LEFT JOIN counter
                ON counter.partition = asked.partition AND counter.owner = asked.owner AND counter.name = asked.name
            ORDER BY asked.ordinality);
    END IF;
    IF payloads IS NOT NULL THEN
        found_payloads := ARRAY(
            SELECT ROW(asked.ordinality, payload.content_type, payload.bytes)::found_payload
            FROM unnest(payloads) WITH ORDINALITY AS asked
            JOIN payload
                ON payload.partition = asked.partition AND payload.uuid = asked.uuid AND payload.name = asked.name);
    END IF;
    IF steps IS NOT NULL THEN
        -- Outputs come along for as long as those of the steps so far fit.
        found_steps := ARRAY(
            SELECT ROW(asked.ordinality, step.key, step.version, step.tag, step.body, output.content_type, output.bytes)::found_step
            FROM unnest(steps) WITH ORDINALITY AS asked
            CROSS JOIN LATERAL (
                SELECT listed.*, sum(coalesce((listed.body::json ->> 'output_bytes')::bigint, 0)) OVER (ORDER BY listed.seq) AS so_far
                FROM (
                    SELECT record.* FROM record
                    WHERE record.partition = asked.partition AND left(record.key, 41) = 'step:' || asked.uuid
                        AND record.seq >= asked.from_seq
                    ORDER BY record.seq LIMIT asked.at_most
                ) AS listed
            ) AS step
            LEFT JOIN payload AS output
                ON output.partition = asked.partition AND output.uuid = asked.uuid AND output.name = 'step:' || step.seq
                AND step.so_far <= asked.output_bytes
            ORDER BY asked.ordinality, step.seq);
    END IF;
END $$;
