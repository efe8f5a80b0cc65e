-- What calls are made of. Each is a row of an array, so that a batch of transactions is a few arrays of rows with names.

-- Who asks: what it adds to the clock (only tests do), the latest moment it has seen, the cluster it is connected to, and how far it has
-- seen that cluster's log reach.
CREATE TYPE caller AS (clock_offset bigint, seen bigint, system_identifier bigint, reached bigint);

-- A transaction: the generation it was decided in, until when it may land.
CREATE TYPE wanted AS (generation bigint, not_after bigint);
-- What a transaction was decided from: its number in the call, which of its expectations this is (none: it is only told of), the record,
-- and the version it must have (none: it must not exist).
CREATE TYPE expected_execution AS (tx integer, nth integer, partition smallint, uuid uuid, version bigint, tag bigint);
CREATE TYPE expected_record AS (tx integer, nth integer, partition smallint, key text, version bigint, tag bigint);
-- A record as it stood before: whether it is what was expected (nothing, if nothing was), and what must be undone when it changes.
CREATE TYPE execution_before AS (
    partition smallint, uuid uuid, version bigint, tag bigint, is_expected boolean, namespace text, lane text, state text,
    due_at bigint, queue_id bigint, score bigint, history_lines bigint);
CREATE TYPE record_before AS (
    partition smallint, key text, version bigint, tag bigint, is_expected boolean, due_at bigint, expires_at bigint);
-- An execution to write: which one of those that were found it replaces, and the columns of its table.
CREATE TYPE execution_put AS (
    at               integer,
    partition        smallint,
    uuid             uuid,
    namespace        text,
    lane             text,
    kind             text,
    created_at       bigint,
    version          bigint,
    tag              bigint,
    state            text,
    blocking_reason  text,
    blocking_detail  text,
    priority         smallint,
    updated_at       bigint,
    flow_id          uuid,
    due_at           bigint,
    queue_id         bigint,
    score            bigint,
    attempt_index    integer,
    attempt_id       uuid,
    is_free          boolean,
    due_cap          bigint,
    worker           text,
    lease_epoch      bigint,
    lease_id         uuid,
    lease_expires_at bigint,
    is_attempt_over  boolean,
    input_bytes      bigint,
    lines            text,
    line_count       integer,
    body             text
);
-- Any other record to write.
CREATE TYPE record_put AS (
    at integer, partition smallint, key text, version bigint, tag bigint, due_at bigint, ttl_ms bigint, seq bigint, body text);
-- Records to delete, and executions whose blobs, history, streams and counters go.
CREATE TYPE execution_gone AS (at integer, partition smallint, uuid uuid);
CREATE TYPE record_gone AS (at integer, partition smallint, key text);
CREATE TYPE entry_gone AS (name text, sort text);
CREATE TYPE entry_put AS (name text, sort text, partition smallint, key text);
CREATE TYPE increment AS (tx integer, partition smallint, owner text, name text, by bigint);
CREATE TYPE nudge_put AS (tx integer, partition smallint, key text, stamp bigint, zero_owner text, zero_name text);
CREATE TYPE nudge_seen AS (partition smallint, key text, stamp bigint);
CREATE TYPE payload_put AS (partition smallint, uuid uuid, name text, content_type text, bytes bytea);
CREATE TYPE line_put AS (partition smallint, key text, line text);
CREATE TYPE told AS (partition smallint, key text, namespace text, lane text, kind text, flow_id uuid, line text);
CREATE TYPE stream_end AS (partition smallint, uuid uuid, attempt_index integer, at bigint, reason text);
-- Why a transaction does not land: the expectation that does not hold, and what was found instead.
CREATE TYPE verdict AS (tx integer, why text, nth integer, version bigint, tag bigint);

-- What may be handed out, as it was seen without a lock: in which of the queues that were asked for, and its place among the first few
-- of that one, if it is one of these.
CREATE TYPE candidate AS (source integer, lane integer, partition smallint, queue_id bigint, score bigint, uuid uuid, place bigint);
-- What was locked to be handed out.
CREATE TYPE taken AS (
    partition smallint, uuid uuid, queue_id bigint, score bigint, updated_at bigint, is_free boolean, due_cap bigint, due_at bigint,
    state text, namespace text, lane text, kind text, flow_id uuid, lease_epoch bigint, attempt_index integer, attempt_id uuid,
    input_bytes bigint);
-- What becomes of it, with what stood on its row before: when, a lease or a grant, the gate of its flow, and when it is due; an attempt
-- that begins has an id. It is for the claimant with this number. Of a lease the line is told.
CREATE TYPE handed_out AS (
    number integer, partition smallint, uuid uuid, queue_id bigint, score bigint, due_before bigint, state_before text, namespace text,
    lane text, kind text, flow_id uuid, at bigint, is_lease boolean, gate text, gate_version bigint, gate_tag bigint, due_at bigint,
    lease_epoch bigint, attempt_id uuid, line text);
CREATE TYPE gate AS (partition smallint, flow_id uuid, state text, version bigint, tag bigint);

-- What is read: a record with the nudge it has, a gate with the execution that brought it along, bytes, a step with what it left. Each
-- says which one of those that were asked for it answers.
CREATE TYPE asked_record AS (partition smallint, key text);
CREATE TYPE asked_execution AS (partition smallint, uuid uuid, with_gate boolean);
CREATE TYPE asked_counter AS (partition smallint, owner text, name text);
CREATE TYPE asked_payload AS (partition smallint, uuid uuid, name text);
CREATE TYPE asked_steps AS (partition smallint, uuid uuid, from_seq bigint, at_most bigint, output_bytes bigint);
CREATE TYPE found_record AS (nth integer, version bigint, tag bigint, body text, claim text, stamp bigint);
CREATE TYPE found_gate AS (nth integer, flow_id uuid, version bigint, tag bigint, body text);
CREATE TYPE found_payload AS (nth integer, content_type text, bytes bytea);
CREATE TYPE found_step AS (nth integer, key text, version bigint, tag bigint, body text, content_type text, bytes bytea);

-- A frame to append, under the lease it names, and what became of it.
CREATE TYPE frame_put AS (
    partition smallint, uuid uuid, attempt_index integer, lease_epoch bigint, lease_id uuid, attempt_id uuid, frame_type text,
    correlation_id bytea, content_type text, bytes bytea, key text, ttl_ms bigint, summary bytea, summary_revision bigint,
    keep_frames bigint, keep_for_ms bigint);
CREATE TYPE frame_outcome AS (what text, millis bigint, sequence bigint, frames bigint, revision bigint);

-- An operation on settings, and what was found: which operation it answers, and in which way.
CREATE TYPE setting_op AS (
    what text, key text, value text, expected text, revision bigint, ttl_ms bigint, after text, at_most bigint);
CREATE TYPE setting_found AS (
    op integer, what text, key text, value text, revision bigint, updated_at bigint, expires_at bigint);
-- What is due: in a flow partition, or in that of an account.
CREATE TYPE due_row AS (partition smallint, account_partition text, at bigint, key text);
CREATE TYPE found_frame AS (
    millis bigint, sequence bigint, frame_type text, correlation_id bytea, content_type text, bytes bytea);
-- What a queue stands for.
CREATE TYPE queue_name AS (namespace text, lane text, signature text);
-- The best of a queue in one partition, and how many are in it as far as they were counted.
CREATE TYPE queue_head AS (
    partition smallint, queue_id bigint, name queue_name, score bigint, uuid uuid, length bigint);
-- A record and where it stands in a list: an order as text, or the number it is made from.
CREATE TYPE place AS (
    sort text, number bigint, partition smallint, key text, version bigint, tag bigint, body text, claim text);
CREATE TYPE entry_head AS (partition smallint, name text, sort text, length bigint);
CREATE TYPE lane_row AS (lane text, depths text, oldest bigint);
CREATE TYPE chunk AS (first bigint, lines text);
-- A record with what the store keeps for it.
CREATE TYPE audited AS (
    key text, body text, claim text, due_at bigint, queue queue_name, score bigint);
-- An entry that was passed on the way along a list, and how far that is.
CREATE TYPE entry_head_key AS (name text, sort text, partition smallint, key text, number bigint);
-- From where the feed of a partition is read: `oldest`, `since` or `from` a moment, or `after` a line.
CREATE TYPE feed_start AS (partition smallint, what text, at bigint, xid bigint, number integer, generation integer);
CREATE TYPE feed_line AS (
    partition smallint, xid bigint, number integer, generation integer, key text, namespace text, lane text, kind text, flow_id uuid,
    line text);
