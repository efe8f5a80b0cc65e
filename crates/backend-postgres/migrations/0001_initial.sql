-- The whole schema. Bodies are JSON and hold the record exactly; the columns beside them are derived from it, for indexes, for the
-- functions of the library and for people. Times are Unix milliseconds; the views show them as moments. Text is compared byte by
-- byte (COLLATE "C"), as every store does.
--
-- What changes often is never indexed on the row it belongs to: the row of an execution is then updated in place (HOT), and what
-- must be found by its state stands in narrow tables whose rows come and go. Those have little autovacuum delay.

-- One row: what belongs to no record.
CREATE TABLE store (
    only_row         boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    partition_counts jsonb NOT NULL,
    -- The store's time is never before this. It is moved about once a second, by nobody on the way of a commit.
    clock            bigint NOT NULL DEFAULT 0
);

-- Which history of writes this is. A number is drawn when a timeline of a cluster is first met; whoever sees that writes were lost on
-- it draws another one. Rows that a dump brings in stand for nothing: what was drawn in this table names it.
CREATE TABLE generation (
    system_identifier bigint NOT NULL,
    timeline          text NOT NULL,
    drawn_in          oid NOT NULL,
    number            bigint NOT NULL,
    PRIMARY KEY (system_identifier, timeline, drawn_in)
);

CREATE TABLE setting (
    key        text COLLATE "C" PRIMARY KEY,
    value      json NOT NULL,
    revision   bigint NOT NULL CHECK (revision > 0),
    updated_at bigint NOT NULL,
    expires_at bigint
);
CREATE INDEX setting_expiring ON setting (expires_at) WHERE expires_at IS NOT NULL;

-- Queues that hold or held eligible executions: a namespace, a lane and what a worker must offer. Rows are never changed.
CREATE TABLE queue (
    queue_id  bigint PRIMARY KEY,
    namespace text COLLATE "C" NOT NULL,
    lane      text COLLATE "C" NOT NULL,
    signature text COLLATE "C" NOT NULL,
    UNIQUE (namespace, lane, signature)
);

CREATE TABLE execution (
    partition        smallint NOT NULL,
    uuid             uuid NOT NULL,
    namespace        text COLLATE "C" NOT NULL,
    lane             text COLLATE "C" NOT NULL,
    kind             text COLLATE "C" NOT NULL,
    created_at       bigint NOT NULL,
    version          bigint NOT NULL CHECK (version > 0),
    tag              bigint NOT NULL,
    state            text COLLATE "C" NOT NULL CHECK (state IN ('waiting', 'resumable', 'active', 'completed', 'delayed',
                         'waiting_children', 'rate_limited', 'suspended', 'failed', 'cancelled', 'expired', 'skipped')),
    blocking_reason  text COLLATE "C" NOT NULL,
    blocking_detail  text COLLATE "C",
    priority         smallint NOT NULL CHECK (priority BETWEEN 0 AND 9000),
    updated_at       bigint NOT NULL,
    flow_id          uuid,
    due_at           bigint,
    -- The queue it waits in, and where.
    queue_id         bigint,
    score            bigint,
    -- Of what waits in a queue, what the next claim makes of it: the number of the attempt, the attempt that goes on if one does,
    -- whether nothing has to admit it, and when it is due whatever its lease says (0: at once). Of what is leased, the lease.
    attempt_index    integer,
    attempt_id       uuid,
    is_free          boolean NOT NULL,
    due_cap          bigint,
    worker           text COLLATE "C",
    lease_epoch      bigint NOT NULL,
    lease_id         uuid,
    lease_expires_at bigint,
    -- Whether the output of its attempt has ended.
    is_attempt_over  boolean NOT NULL,
    -- How long its input is, so that a claim knows what it hands out.
    input_bytes      bigint NOT NULL,
    -- The newest lines of its history, one JSON document a line; older ones move to the table `history`.
    history          text COLLATE "C" NOT NULL,
    history_first    bigint NOT NULL DEFAULT 0,
    history_lines    bigint NOT NULL,
    -- A claim that is not part of the body yet; empty: there is none.
    claim            text COLLATE "C" NOT NULL DEFAULT '',
    body             text COLLATE "C" NOT NULL,
    PRIMARY KEY (partition, uuid)
) WITH (fillfactor = 30, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 1);
-- A row grows as its execution is claimed and ends, often before anybody could clean up behind it: a page has room for all three.
-- A body of some kilobytes stays on its page: rows that are moved out are written three times over.
ALTER TABLE execution SET (toast_tuple_target = 8160);
ALTER TABLE execution ALTER COLUMN body SET STORAGE MAIN;
ALTER TABLE execution ALTER COLUMN history SET STORAGE MAIN;
CREATE INDEX execution_by_age ON execution (namespace, created_at, uuid, partition);
CREATE INDEX execution_newest ON execution (created_at, uuid, partition);

-- Executions that may be handed out, best first in their queue: a score is priority and age as one number, the smallest first.
CREATE TABLE queued (
    partition smallint NOT NULL,
    queue_id  bigint NOT NULL,
    score     bigint NOT NULL,
    uuid      uuid NOT NULL,
    PRIMARY KEY (partition, queue_id, score, uuid)
) WITH (autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);

-- Records by the moment they need attention: `key` names the record.
CREATE TABLE due (
    partition smallint NOT NULL,
    at        bigint NOT NULL,
    key       text COLLATE "C" NOT NULL,
    PRIMARY KEY (partition, at, key)
) WITH (autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);

-- Lists that records are entered in one by one: where a record stands in which, and its key.
CREATE TABLE entry (
    name      text COLLATE "C" NOT NULL,
    sort      text COLLATE "C" NOT NULL,
    partition smallint NOT NULL,
    key       text COLLATE "C" NOT NULL,
    PRIMARY KEY (name, sort)
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 1);
-- Which accounts hold back work of a partition.
CREATE INDEX entry_blocked ON entry (partition, name, sort) WHERE left(name, 8) = 'blocked:';

-- How many executions of a lane are in which state: differences, whose sum it is. Nobody waits for anybody to count; a sweep adds up.
CREATE TABLE lane_depth (
    namespace text COLLATE "C" NOT NULL,
    lane      text COLLATE "C" NOT NULL,
    state     text COLLATE "C" NOT NULL,
    count     bigint NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX lane_depth_by_lane ON lane_depth (namespace, lane);

-- Inputs, results, what came with signals and what steps left, under `input`, `result`, `signal:<id>`, `step:<place>`.
CREATE TABLE payload (
    partition    smallint NOT NULL,
    uuid         uuid NOT NULL,
    name         text COLLATE "C" NOT NULL,
    content_type text COLLATE "C" NOT NULL,
    bytes        bytea NOT NULL,
    PRIMARY KEY (partition, uuid, name)
) WITH (toast_tuple_target = 8160);
-- Nothing is compressed: payloads often are already, and the time is better spent elsewhere.
ALTER TABLE payload ALTER COLUMN bytes SET STORAGE EXTERNAL;

-- Records of every kind but executions. The key says the kind and what tells it apart, as in `waitpoint:<uuid>:<id>`.
CREATE TABLE record (
    partition  smallint NOT NULL,
    key        text COLLATE "C" NOT NULL,
    version    bigint NOT NULL CHECK (version > 0),
    tag        bigint NOT NULL,
    due_at     bigint,
    -- Remembered no longer from then on.
    expires_at bigint,
    -- The place of a step among those of its execution.
    seq        bigint,
    body       text COLLATE "C" NOT NULL,
    PRIMARY KEY (partition, key)
) WITH (fillfactor = 80);
CREATE INDEX record_expiring ON record (expires_at) WHERE expires_at IS NOT NULL;
-- `step:<uuid>` has 41 letters.
CREATE UNIQUE INDEX record_step ON record (partition, left(key, 41), seq) WHERE seq IS NOT NULL;

-- Histories in chunks, each under the key of what it is about. The newest lines of an execution stand on its row.
CREATE TABLE history (
    partition smallint NOT NULL,
    key       text COLLATE "C" NOT NULL,
    first     bigint NOT NULL,
    count     bigint NOT NULL,
    lines     text COLLATE "C" NOT NULL,
    PRIMARY KEY (partition, key, first)
);

-- What happened, by partition in the order of the transactions that wrote it. A line is visible to readers once every transaction
-- with a smaller number has ended. Segments are four hours each and are emptied whole, a day later.
CREATE TABLE feed (
    segment    smallint NOT NULL,
    partition  smallint NOT NULL,
    xid        bigint NOT NULL,
    number     integer NOT NULL,
    -- Half of the generation: enough to tell a line from another one that was written in its place after a failover.
    generation integer NOT NULL,
    written_at bigint NOT NULL,
    -- What the line is about, which it leaves out.
    key        text COLLATE "C" NOT NULL,
    namespace  text COLLATE "C" NOT NULL,
    lane       text COLLATE "C",
    kind       text COLLATE "C" NOT NULL,
    flow_id    uuid,
    line       text COLLATE "C" NOT NULL
) PARTITION BY LIST (segment);
DO $$
BEGIN
    FOR segment IN 0..7 LOOP
        EXECUTE format('CREATE TABLE feed_%s PARTITION OF feed FOR VALUES IN (%s)', segment, segment);
    END LOOP;
END $$;
CREATE INDEX feed_by_partition ON feed (partition, xid, number);
-- Segments that nobody writes to any more, and a transaction that is not before any that did.
CREATE TABLE feed_segment (
    segment  smallint PRIMARY KEY,
    last_xid bigint NOT NULL
);
-- The last line of each partition that was dropped, and when: a reader who saw it, or who began later, missed nothing.
CREATE TABLE feed_trimmed (
    partition  smallint PRIMARY KEY,
    xid        bigint NOT NULL,
    number     integer NOT NULL,
    written_at bigint NOT NULL,
    trimmed_at bigint NOT NULL
);

CREATE TABLE counter (
    partition smallint NOT NULL,
    owner     text COLLATE "C" NOT NULL,
    name      text COLLATE "C" NOT NULL,
    value     bigint NOT NULL,
    PRIMARY KEY (partition, owner, name)
) WITH (fillfactor = 50, autovacuum_vacuum_cost_delay = 0);

-- Records to be looked at soon.
CREATE TABLE nudge (
    partition smallint NOT NULL,
    key       text COLLATE "C" NOT NULL,
    stamp     bigint NOT NULL,
    at        bigint NOT NULL,
    PRIMARY KEY (partition, key)
) WITH (autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX nudge_by_age ON nudge (partition, at);

-- The output of an attempt, from its first frame on. One of a deleted execution stays until its frames are cleaned up.
CREATE TABLE stream (
    stream_id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    partition        smallint NOT NULL,
    uuid             uuid NOT NULL,
    attempt_index    integer NOT NULL,
    frames           bigint NOT NULL DEFAULT 0 CHECK (frames >= 0),
    last_millis      bigint NOT NULL DEFAULT 0,
    last_sequence    bigint NOT NULL DEFAULT 0,
    summary_revision bigint NOT NULL DEFAULT 0,
    summary          bytea,
    closed_at        bigint,
    closed_reason    text COLLATE "C"
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX stream_by_attempt ON stream (partition, uuid, attempt_index);
CREATE TABLE frame (
    stream_id      bigint NOT NULL,
    millis         bigint NOT NULL,
    sequence       bigint NOT NULL,
    frame_type     text COLLATE "C" NOT NULL,
    -- Any text, which may hold what no text here can.
    correlation_id bytea,
    expires_at     bigint,
    content_type   text COLLATE "C" NOT NULL,
    bytes          bytea NOT NULL,
    -- What a repeated frame is recognised by.
    key            text COLLATE "C",
    PRIMARY KEY (stream_id, millis, sequence)
);
CREATE UNIQUE INDEX frame_by_key ON frame (stream_id, key) WHERE key IS NOT NULL;
CREATE INDEX frame_expiring ON frame (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX frame_expiring_in_stream ON frame (stream_id, expires_at) WHERE expires_at IS NOT NULL;
-- In which partitions streams have grown, so that whoever waits finds out that a hint was lost; only the last row of each counts.
CREATE TABLE stream_change (
    partition smallint NOT NULL,
    number    bigint GENERATED ALWAYS AS IDENTITY,
    PRIMARY KEY (partition, number)
) WITH (autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
-- Streams whose execution is gone; their frames are deleted little by little.
CREATE TABLE deleted_stream (
    stream_id bigint PRIMARY KEY
);

-- Accounts: integers and moments that limit others. What they mean is said by whoever made them, in a body nobody here reads.
-- The row is the lock of the account; the key is the account's, as text, the partition its tag.
CREATE TABLE account (
    account      text COLLATE "C" PRIMARY KEY,
    partition    text COLLATE "C" NOT NULL,
    version      bigint NOT NULL CHECK (version > 0),
    revision     bigint NOT NULL CHECK (revision > 0),
    body         text COLLATE "C" NOT NULL,
    stale_at     bigint,
    due_at       bigint,
    due_stamp    bigint NOT NULL,
    generation   bigint NOT NULL,
    marks        bigint NOT NULL CHECK (marks >= 0),
    -- The last limit that was passed: what counts it, which number, how much, the limit, when.
    last         jsonb,
    listed_in    text COLLATE "C",
    -- Places are numbered as they are taken, so that how many count, and when one more becomes free, is found without
    -- counting: the oldest that has a row, the first that may still count, the next to be taken, and how many between
    -- these two were given back.
    oldest_place bigint NOT NULL DEFAULT 0,
    first_place  bigint NOT NULL DEFAULT 0 CHECK (first_place >= oldest_place),
    next_place   bigint NOT NULL DEFAULT 0 CHECK (next_place >= first_place),
    gaps         bigint NOT NULL DEFAULT 0 CHECK (gaps >= 0),
    -- When the newest place was taken. Nothing happens to the account before that, so that numbers are in the order of time.
    placed_at    bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX account_listed ON account (listed_in, account) WHERE listed_in IS NOT NULL;
-- Accounts by the moment somebody must look at them.
CREATE TABLE account_due (
    partition text COLLATE "C" NOT NULL,
    at        bigint NOT NULL,
    account   text COLLATE "C" NOT NULL,
    PRIMARY KEY (partition, at, account)
) WITH (autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
-- Accounts whose log has places that never count again.
CREATE TABLE account_past (
    account text COLLATE "C" PRIMARY KEY
) WITH (autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);

CREATE TABLE meter (
    account text COLLATE "C" NOT NULL,
    meter   text COLLATE "C" NOT NULL,
    used    bigint NOT NULL,
    held    bigint NOT NULL,
    PRIMARY KEY (account, meter)
) WITH (fillfactor = 50, autovacuum_vacuum_cost_delay = 0);

-- What grants have taken: of which accounts and numbers how much is held and was used, and in which accounts which places. No account
-- means the one it stands on.
CREATE TABLE hold (
    account        text COLLATE "C" NOT NULL,
    grant_id       uuid NOT NULL,
    holder         text COLLATE "C" NOT NULL,
    taken_at       bigint NOT NULL,
    tier           integer NOT NULL,
    accounts       text[] NOT NULL,
    meters         text[] NOT NULL,
    held           bigint[] NOT NULL,
    used           bigint[] NOT NULL,
    place_accounts text[] NOT NULL,
    places         text[] NOT NULL,
    PRIMARY KEY (account, grant_id)
) WITH (autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);

-- What is remembered until a moment: names under which something was drawn, with the effect that brought it, and grants that
-- are refused.
CREATE TABLE seen (
    account text COLLATE "C" NOT NULL,
    name    text COLLATE "C" NOT NULL,
    bearer  text COLLATE "C",
    until   bigint NOT NULL,
    PRIMARY KEY (account, name)
);
CREATE INDEX seen_by_end ON seen (until);

-- The log of an account. A place that was given back has no name, and keeps its number.
CREATE TABLE account_place (
    account  text COLLATE "C" NOT NULL,
    number   bigint NOT NULL,
    taken_at bigint NOT NULL,
    name     text COLLATE "C",
    PRIMARY KEY (account, number)
) WITH (autovacuum_vacuum_cost_delay = 0);
CREATE UNIQUE INDEX account_place_by_name ON account_place (account, name) WHERE name IS NOT NULL;
CREATE INDEX account_place_by_age ON account_place (account, taken_at, number);
CREATE INDEX account_place_gap ON account_place (account, number) WHERE name IS NULL;

-- For people: executions with moments, and what waits, where, and why.
CREATE VIEW executions AS
    SELECT '{fp:' || partition || '}:' || uuid AS id, namespace, lane, kind, state, blocking_reason, blocking_detail, priority,
        flow_id, worker, lease_epoch, to_timestamp(lease_expires_at / 1000.0) AS lease_expires_at,
        to_timestamp(created_at / 1000.0) AS created_at, to_timestamp(updated_at / 1000.0) AS updated_at,
        to_timestamp(due_at / 1000.0) AS due_at
    FROM execution;
CREATE VIEW waiting AS
    SELECT id, namespace, lane, kind, priority, state, blocking_reason, blocking_detail, created_at, due_at
    FROM executions
    WHERE state IN ('waiting', 'resumable', 'delayed', 'waiting_children', 'rate_limited', 'suspended')
    ORDER BY namespace, lane, priority DESC, created_at;
CREATE VIEW lanes AS
    SELECT namespace, lane, state, sum(count)::bigint AS count FROM lane_depth GROUP BY namespace, lane, state
    HAVING sum(count) <> 0;
