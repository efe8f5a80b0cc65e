-- Listings. Each reads one index from a place on, and the records it meets.

-- A record as it stands; none: it is not there, or remembered no longer.
CREATE FUNCTION stands(own_partition smallint, own_key text, now bigint, OUT version bigint, OUT tag bigint, OUT body text, OUT claim text)
RETURNS SETOF record LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
BEGIN
    IF left(own_key, 10) = 'execution:' THEN
        RETURN QUERY SELECT version, tag, body, claim FROM execution
            WHERE partition = own_partition AND uuid = substr(own_key, 11)::uuid;
    ELSE
        RETURN QUERY SELECT version, tag, body, '' FROM record
            WHERE partition = own_partition AND key = own_key AND (expires_at IS NULL OR expires_at > now);
    END IF;
END $$;

-- What stands in lists that records are entered in, in their order. `reached` is how far the lists were followed, if not to their end:
-- what belongs to other partitions is passed over, but not for ever.
CREATE FUNCTION list_entries(
    caller caller, names text[], partitions smallint[], start text, is_after boolean, until text, at_most bigint, visited_max bigint,
    OUT now bigint, OUT answer place[], OUT reached text
) LANGUAGE plpgsql STABLE SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    visited entry_head_key[];
BEGIN
    now := store_now(caller);
    visited := ARRAY(
        SELECT ROW(asked.name, listed.sort, listed.partition, listed.key, listed.number)::entry_head_key
        FROM unnest(names) AS asked (name)
        CROSS JOIN LATERAL (
            SELECT entry.sort, entry.partition, entry.key, row_number() OVER (ORDER BY entry.sort) AS number
            FROM entry
            WHERE entry.name = asked.name AND entry.sort >= start AND NOT (is_after AND entry.sort = start)
                AND (until IS NULL OR entry.sort < until)
            ORDER BY entry.sort LIMIT visited_max
        ) AS listed);
    reached := (SELECT min(listed.sort) FROM unnest(visited) AS listed WHERE listed.number = visited_max);
    answer := ARRAY(
        SELECT ROW(listed.sort, NULL, listed.partition, listed.key, record.version, record.tag, record.body, record.claim)::place
        FROM (
            SELECT DISTINCT ON (sort) * FROM unnest(visited) AS listed
            WHERE listed.partition = ANY (partitions) AND (reached IS NULL OR listed.sort <= reached)
            ORDER BY sort LIMIT at_most
        ) AS listed
        LEFT JOIN LATERAL stands(listed.partition, listed.key, now) AS record ON true
        ORDER BY listed.sort);
END $$;

-- Executions of a tenant or of all, newest first, from a place on. What belongs to other partitions is passed over as above.
CREATE FUNCTION list_newest(
    caller caller, own_namespace text, partitions smallint[], start_created_at bigint, start_uuid uuid, start_partition integer,
    at_most bigint, visited_max bigint, OUT now bigint, OUT answer place[], OUT reached place
) LANGUAGE plpgsql STABLE SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    visited place[];
BEGIN
    now := store_now(caller);
    IF own_namespace IS NULL THEN
        visited := ARRAY(
            SELECT ROW(NULL, created_at, partition, uuid::text, version, tag, NULL, NULL)::place FROM execution
            WHERE (created_at, uuid, partition) <= (start_created_at, start_uuid, start_partition)
            ORDER BY created_at DESC, uuid DESC, partition DESC LIMIT visited_max);
    ELSE
        visited := ARRAY(
            SELECT ROW(NULL, created_at, partition, uuid::text, version, tag, NULL, NULL)::place FROM execution
            WHERE namespace = own_namespace
                AND (created_at, uuid, partition) <= (start_created_at, start_uuid, start_partition)
            ORDER BY created_at DESC, uuid DESC, partition DESC LIMIT visited_max);
    END IF;
    IF cardinality(visited) = visited_max THEN
        reached := visited[visited_max];
    END IF;
    answer := ARRAY(
        SELECT ROW(NULL, listed.number, listed.partition, 'execution:' || listed.key, record.version, record.tag, record.body,
            record.claim)::place
        FROM (
            SELECT * FROM unnest(visited) WITH ORDINALITY AS listed
            WHERE listed.partition = ANY (partitions) ORDER BY listed.ordinality LIMIT at_most
        ) AS listed
        JOIN execution AS record ON record.partition = listed.partition AND record.uuid = listed.key::uuid
        ORDER BY listed.ordinality);
END $$;

-- What waits in queues, best first across partitions, from a score on.
CREATE FUNCTION list_queued(
    caller caller, queues bigint[], partitions smallint[], start_score bigint, start_uuid uuid, at_most bigint,
    OUT now bigint, OUT answer place[]
) LANGUAGE plpgsql STABLE SET search_path FROM CURRENT AS $$
#variable_conflict use_column
BEGIN
    now := store_now(caller);
    answer := ARRAY(
        SELECT ROW(NULL, listed.score, listed.partition, 'execution:' || listed.uuid, record.version, record.tag, record.body,
            record.claim)::place
        FROM (
            SELECT best.* FROM unnest(queues) AS asked (queue_id)
            CROSS JOIN unnest(partitions) AS place (partition)
            CROSS JOIN LATERAL (
                SELECT queued.partition, queued.score, queued.uuid FROM queued
                WHERE queued.partition = place.partition AND queued.queue_id = asked.queue_id
                    AND (queued.score, queued.uuid) >= (start_score, start_uuid)
                ORDER BY queued.score, queued.uuid LIMIT at_most
            ) AS best
            ORDER BY best.score, best.uuid, best.partition LIMIT at_most
        ) AS listed
        JOIN execution AS record ON record.partition = listed.partition AND record.uuid = listed.uuid
        ORDER BY listed.score, listed.uuid, listed.partition);
END $$;

-- Records of a partition between two keys, the second excluded.
CREATE FUNCTION list_keys(
    caller caller, own_partition smallint, start text, is_after boolean, before text, at_most bigint,
    OUT now bigint, OUT answer place[]
) LANGUAGE plpgsql STABLE SET search_path FROM CURRENT AS $$
#variable_conflict use_column
BEGIN
    now := store_now(caller);
    answer := ARRAY(
        SELECT ROW(NULL, NULL, partition, key, version, tag, body, '')::place FROM record
        WHERE partition = own_partition AND key >= start AND NOT (is_after AND key = start) AND key < before
            AND (expires_at IS NULL OR expires_at > now)
        ORDER BY key LIMIT at_most);
END $$;

-- The lists of blocked executions that are not empty, by partition and name, after one of them. What is in each is counted up to a number.
CREATE FUNCTION blocked_heads(
    caller caller, partitions smallint[], after_partition smallint, after_name text, count_max bigint, at_most bigint,
    OUT now bigint, OUT answer entry_head[]
) LANGUAGE plpgsql STABLE SET search_path FROM CURRENT AS $$
BEGIN
    now := store_now(caller);
    answer := ARRAY(
        WITH RECURSIVE head AS (
            SELECT first.* FROM unnest(partitions) AS asked (partition)
            CROSS JOIN LATERAL (
                SELECT entry.partition, entry.name, entry.sort FROM entry
                WHERE entry.partition = asked.partition AND left(entry.name, 8) = 'blocked:'
                    AND (asked.partition <> after_partition OR entry.name > after_name)
                ORDER BY entry.name, entry.sort LIMIT 1
            ) AS first
            UNION ALL
            SELECT next.* FROM head
            CROSS JOIN LATERAL (
                SELECT entry.partition, entry.name, entry.sort FROM entry
                WHERE entry.partition = head.partition AND left(entry.name, 8) = 'blocked:' AND entry.name > head.name
                ORDER BY entry.name, entry.sort LIMIT 1
            ) AS next
        )
        SELECT ROW(shown.partition, shown.name, shown.sort, (
            SELECT count(*) FROM (
                SELECT FROM entry
                WHERE entry.partition = shown.partition AND left(entry.name, 8) = 'blocked:' AND entry.name = shown.name
                LIMIT count_max
            ) AS counted
        ))::entry_head
        FROM (SELECT * FROM head ORDER BY partition, name LIMIT at_most) AS shown ORDER BY shown.partition, shown.name);
END $$;

-- Lanes of a namespace with how many executions are in which state, and when the oldest that waits in each was created: the head of every
-- priority of every queue is looked at. `span` is what one priority is worth in a score.
CREATE FUNCTION list_lanes(
    caller caller, own_namespace text, after text, partitions smallint[], span bigint, at_most bigint,
    OUT now bigint, OUT answer lane_row[]
) LANGUAGE plpgsql STABLE SET search_path FROM CURRENT AS $$
#variable_conflict use_column
BEGIN
    now := store_now(caller);
    answer := ARRAY(
        SELECT ROW(counted.lane, json_object_agg(counted.state, counted.count)::text, (
            WITH RECURSIVE waiting AS (
                SELECT first.* FROM queue CROSS JOIN unnest(partitions) AS place (partition)
                CROSS JOIN LATERAL (
                    SELECT queued.partition, queued.queue_id, queued.score FROM queued
                    WHERE queued.partition = place.partition AND queued.queue_id = queue.queue_id
                    ORDER BY queued.score LIMIT 1
                ) AS first
                WHERE queue.namespace = own_namespace AND queue.lane = counted.lane
                UNION ALL
                SELECT next.* FROM waiting
                CROSS JOIN LATERAL (
                    SELECT queued.partition, queued.queue_id, queued.score FROM queued
                    WHERE queued.partition = waiting.partition AND queued.queue_id = waiting.queue_id
                        AND queued.score >= (floor(waiting.score / span::numeric) + 1) * span
                    ORDER BY queued.score LIMIT 1
                ) AS next
            )
            SELECT min(score - floor(score / span::numeric) * span)::bigint FROM waiting))::lane_row
        FROM (
            SELECT lane, state, sum(count)::bigint AS count FROM lane_depth
            WHERE namespace = own_namespace AND lane > after
            GROUP BY lane, state HAVING sum(count) > 0
        ) AS counted
        GROUP BY counted.lane ORDER BY counted.lane LIMIT at_most);
END $$;

-- The history of something: chunks from a line on, and what stands on the row of an execution, with what its lines leave out.
CREATE FUNCTION list_history(
    caller caller, own_partition smallint, own_key text, from_line bigint,
    OUT now bigint, OUT answer chunk[], OUT namespace text, OUT lane text, OUT kind text
) LANGUAGE plpgsql STABLE SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    first bigint;
    lines text;
BEGIN
    now := store_now(caller);
    answer := ARRAY(
        SELECT ROW(history.first, history.lines)::chunk FROM history
        WHERE history.partition = own_partition AND history.key = own_key AND history.first + history.count > from_line
        ORDER BY history.first);
    IF left(own_key, 10) = 'execution:' THEN
        SELECT execution.history_first, execution.history, execution.namespace, execution.lane, execution.kind
        INTO first, lines, namespace, lane, kind FROM execution
        WHERE execution.partition = own_partition AND execution.uuid = substr(own_key, 11)::uuid;
        IF first IS NOT NULL THEN
            answer := answer || ROW(first, lines)::chunk;
        END IF;
    END IF;
END $$;

-- Accounts that a namespace's lists show, by key.
CREATE FUNCTION list_accounts(
    caller caller, own_namespace text, after text, before text, at_most bigint, OUT now bigint, OUT answer text[]
) LANGUAGE plpgsql STABLE SET search_path FROM CURRENT AS $$
BEGIN
    now := store_now(caller);
    answer := ARRAY(
        SELECT account FROM account
        WHERE listed_in = own_namespace AND account > after AND account < before ORDER BY account LIMIT at_most);
END $$;

-- Records of a partition with what is kept for them: executions by id, then all others by key.
CREATE FUNCTION audit(caller caller, own_partition smallint, after text, at_most bigint, OUT now bigint, OUT answer audited[])
LANGUAGE plpgsql STABLE SET search_path FROM CURRENT AS $$
#variable_conflict use_column
BEGIN
    now := store_now(caller);
    answer := '{}';
    IF after = '' OR left(after, 10) = 'execution:' THEN
        answer := ARRAY(
            SELECT ROW('execution:' || uuid, body, claim, (
                    SELECT due.at FROM due
                    WHERE due.partition = execution.partition AND due.at = execution.due_at
                        AND due.key = 'execution:' || execution.uuid),
                (SELECT ROW(queue.namespace, queue.lane, queue.signature)::queue_name FROM queued
                    JOIN queue ON queue.queue_id = queued.queue_id
                    WHERE queued.partition = execution.partition AND queued.queue_id = execution.queue_id
                        AND queued.score = execution.score AND queued.uuid = execution.uuid),
                score)::audited
            FROM execution
            WHERE partition = own_partition AND (after = '' OR uuid > substr(after, 11)::uuid)
            ORDER BY uuid LIMIT at_most);
    END IF;
    IF cardinality(answer) < at_most THEN
        answer := answer || ARRAY(
            SELECT ROW(key, body, '', (
                    SELECT due.at FROM due
                    WHERE due.partition = record.partition AND due.at = record.due_at AND due.key = record.key),
                NULL, NULL)::audited
            FROM record
            WHERE partition = own_partition AND key > CASE WHEN left(after, 10) = 'execution:' THEN '' ELSE after END
                AND (expires_at IS NULL OR expires_at > now)
            ORDER BY key LIMIT at_most - cardinality(answer));
    END IF;
END $$;

-- Which of these entries are missing, by their places.
CREATE FUNCTION missing_entries(wanted entry_put[]) RETURNS integer[] LANGUAGE plpgsql STABLE SET search_path FROM CURRENT AS $$
BEGIN
    RETURN ARRAY(
        SELECT asked.ordinality::integer FROM unnest(wanted) WITH ORDINALITY AS asked
        WHERE NOT EXISTS (
            SELECT FROM entry WHERE entry.name = asked.name AND entry.sort = asked.sort AND entry.partition = asked.partition
                AND entry.key = asked.key)
        ORDER BY asked.ordinality);
END $$;
