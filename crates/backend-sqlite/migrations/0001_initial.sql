-- The whole schema. Bodies are JSON and hold the record exactly; the columns beside them are derived from it, for indexes
-- and for people. Times are Unix milliseconds. An execution is named by uuid and partition; `id` spells both.

CREATE TABLE setting (
    key        TEXT PRIMARY KEY,
    value      TEXT NOT NULL CHECK (json_valid(value)),
    revision   INTEGER NOT NULL CHECK (revision > 0),
    updated_at INTEGER NOT NULL,
    expires_at INTEGER
) WITHOUT ROWID;
CREATE INDEX setting_expiring ON setting (expires_at) WHERE expires_at IS NOT NULL;

-- One row: what must survive a restart and belongs to no record.
CREATE TABLE store (
    only             INTEGER PRIMARY KEY CHECK (only = 1),
    clock            INTEGER NOT NULL,
    last_revision    INTEGER NOT NULL,
    feed_floor       INTEGER NOT NULL,
    partition_counts TEXT CHECK (partition_counts IS NULL OR json_valid(partition_counts))
);
INSERT INTO store VALUES (1, 0, 0, 0, NULL);

-- Queues that hold or held eligible executions: a namespace, a lane and what a worker must offer.
CREATE TABLE queue (
    queue_id     INTEGER PRIMARY KEY,
    namespace    TEXT NOT NULL,
    lane         TEXT NOT NULL,
    signature    TEXT NOT NULL CHECK (json_valid(signature)),
    UNIQUE (namespace, lane, signature)
);

CREATE TABLE execution (
    row             INTEGER PRIMARY KEY,
    uuid            TEXT NOT NULL,
    partition       INTEGER NOT NULL,
    id              TEXT GENERATED ALWAYS AS ('{fp:' || partition || '}:' || uuid) VIRTUAL,
    version         INTEGER NOT NULL CHECK (version > 0),
    tag             INTEGER NOT NULL,
    namespace       TEXT NOT NULL,
    lane            TEXT NOT NULL,
    kind            TEXT NOT NULL,
    -- Spelled out: SQLite builds a table for every longer IN list, with every row it checks.
    state           TEXT NOT NULL CHECK (state = 'active' OR state = 'completed' OR state = 'waiting' OR state = 'resumable'
                        OR state = 'delayed' OR state = 'waiting_children' OR state = 'rate_limited' OR state = 'suspended'
                        OR state = 'failed' OR state = 'cancelled' OR state = 'expired' OR state = 'skipped'),
    blocking_reason TEXT NOT NULL,
    blocking_detail TEXT,
    priority        INTEGER NOT NULL CHECK (priority BETWEEN 0 AND 9000),
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    flow_id         TEXT,
    is_open         INTEGER NOT NULL CHECK (is_open BETWEEN 0 AND 1),
    worker          TEXT,
    lease_epoch     INTEGER NOT NULL,
    due_at          INTEGER,
    -- A number of the table `queue`; no foreign key, which would make every write of a row keep a journal of its own.
    queue_id        INTEGER,
    cause           TEXT,
    tags            TEXT NOT NULL,
    -- The newest lines of its history, one JSON document a line; older ones move to the table `history`.
    history         TEXT NOT NULL,
    history_first   INTEGER NOT NULL DEFAULT 0,
    history_lines   INTEGER NOT NULL,
    body            TEXT NOT NULL,
    -- Nothing: about as much as the row will grow until its execution ends. A row that grows pushes others off its page.
    room            BLOB,
    -- In one index at most: a queue or a cause.
    CHECK (queue_id IS NULL OR cause IS NULL)
);
CREATE UNIQUE INDEX execution_by_id ON execution (uuid, partition);
CREATE INDEX execution_by_age ON execution (namespace, created_at, uuid, partition);
CREATE INDEX execution_newest ON execution (created_at, uuid, partition);
CREATE INDEX execution_queued ON execution (queue_id, priority DESC, created_at, uuid, partition) WHERE queue_id IS NOT NULL;
CREATE INDEX execution_blocked ON execution (partition, cause, priority DESC, created_at, uuid) WHERE cause IS NOT NULL;
CREATE INDEX execution_due ON execution (due_at, partition) WHERE due_at IS NOT NULL;
CREATE INDEX execution_members ON execution (flow_id, uuid, partition) WHERE flow_id IS NOT NULL;
-- States off the common path, so that a listing by state need not scan; the common ones are many and short-lived.
CREATE INDEX execution_by_state ON execution (namespace, state, created_at, uuid, partition)
    WHERE state <> 'waiting' AND state <> 'active' AND state <> 'completed';

CREATE TABLE execution_tag (
    key        TEXT NOT NULL,
    value      TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    uuid       TEXT NOT NULL,
    partition  INTEGER NOT NULL,
    PRIMARY KEY (key, value, created_at, uuid, partition)
) WITHOUT ROWID;

-- How many executions of a lane are in which state.
CREATE TABLE lane_depth (
    namespace TEXT NOT NULL,
    lane      TEXT NOT NULL,
    state     TEXT NOT NULL,
    count     INTEGER NOT NULL CHECK (count >= 0),
    PRIMARY KEY (namespace, lane, state)
) WITHOUT ROWID;

-- Executions under budgets that are queued, by score, or leased, by id, so that a closed budget finds them.
CREATE TABLE under_budget (
    budget_id  TEXT NOT NULL,
    partition  INTEGER NOT NULL,
    place      TEXT NOT NULL CHECK (place IN ('queued', 'leased')),
    priority   INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    uuid       TEXT NOT NULL,
    PRIMARY KEY (budget_id, partition, place, priority DESC, created_at, uuid)
) WITHOUT ROWID;

-- Inputs and results share the row number of their execution.
CREATE TABLE input (
    execution_row INTEGER PRIMARY KEY,
    content_type  TEXT NOT NULL,
    bytes         BLOB NOT NULL
);
CREATE TABLE result (
    execution_row INTEGER PRIMARY KEY,
    content_type  TEXT NOT NULL,
    bytes         BLOB NOT NULL
);

-- Older history in chunks; the newest lines stand on the record itself.
CREATE TABLE history (
    subject TEXT NOT NULL,
    first   INTEGER NOT NULL,
    lines   TEXT NOT NULL,
    PRIMARY KEY (subject, first)
) WITHOUT ROWID;

CREATE TABLE feed (
    row       INTEGER PRIMARY KEY,
    partition INTEGER NOT NULL,
    millis    INTEGER NOT NULL,
    line      TEXT NOT NULL
);
-- The last row of each partition that was trimmed, when it was written, and when it was trimmed: a reader who saw it, or who
-- began later, missed nothing.
CREATE TABLE feed_trimmed (
    partition  INTEGER PRIMARY KEY,
    row        INTEGER NOT NULL,
    millis     INTEGER NOT NULL,
    trimmed_at INTEGER NOT NULL
);

CREATE TABLE attempt (
    uuid          TEXT NOT NULL,
    partition     INTEGER NOT NULL,
    attempt_index INTEGER NOT NULL,
    version       INTEGER NOT NULL CHECK (version > 0),
    tag           INTEGER NOT NULL,
    body          TEXT NOT NULL,
    PRIMARY KEY (uuid, partition, attempt_index)
) WITHOUT ROWID;

CREATE TABLE waitpoint (
    uuid         TEXT NOT NULL,
    partition    INTEGER NOT NULL,
    waitpoint_id TEXT NOT NULL,
    version      INTEGER NOT NULL CHECK (version > 0),
    tag          INTEGER NOT NULL,
    due_at       INTEGER,
    body         TEXT NOT NULL,
    PRIMARY KEY (uuid, partition, waitpoint_id)
) WITHOUT ROWID;
CREATE INDEX waitpoint_due ON waitpoint (due_at, partition) WHERE due_at IS NOT NULL;

CREATE TABLE signal (
    uuid         TEXT NOT NULL,
    partition    INTEGER NOT NULL,
    signal_id    TEXT NOT NULL,
    version      INTEGER NOT NULL CHECK (version > 0),
    tag          INTEGER NOT NULL,
    -- The waitpoint it arrived at while that was pending.
    waiting_at   TEXT,
    body         TEXT NOT NULL,
    PRIMARY KEY (uuid, partition, signal_id)
) WITHOUT ROWID;
CREATE INDEX signal_waiting ON signal (uuid, partition, waiting_at, signal_id) WHERE waiting_at IS NOT NULL;
CREATE TABLE signal_payload (
    uuid         TEXT NOT NULL,
    partition    INTEGER NOT NULL,
    signal_id    TEXT NOT NULL,
    content_type TEXT NOT NULL,
    bytes        BLOB NOT NULL,
    PRIMARY KEY (uuid, partition, signal_id)
);

-- What an idempotency key stands for, while it is remembered. Scope: a namespace, a flow, or an execution's signals.
CREATE TABLE idempotency_key (
    partition  INTEGER NOT NULL,
    scope      TEXT NOT NULL,
    key        TEXT NOT NULL,
    version    INTEGER NOT NULL CHECK (version > 0),
    tag        INTEGER NOT NULL,
    expires_at INTEGER,
    body       TEXT NOT NULL,
    PRIMARY KEY (partition, scope, key)
) WITHOUT ROWID;
CREATE INDEX idempotency_key_expiring ON idempotency_key (expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE flow (
    row           INTEGER PRIMARY KEY,
    flow_id       TEXT NOT NULL,
    partition     INTEGER NOT NULL,
    version       INTEGER NOT NULL CHECK (version > 0),
    tag           INTEGER NOT NULL,
    namespace     TEXT NOT NULL,
    kind          TEXT NOT NULL,
    created_at    INTEGER NOT NULL,
    due_at        INTEGER,
    history       TEXT NOT NULL,
    history_first INTEGER NOT NULL DEFAULT 0,
    history_lines INTEGER NOT NULL,
    body          TEXT NOT NULL
);
CREATE UNIQUE INDEX flow_by_id ON flow (flow_id, partition);
CREATE INDEX flow_by_age ON flow (created_at, flow_id, partition);
CREATE INDEX flow_due ON flow (due_at, partition) WHERE due_at IS NOT NULL;

CREATE TABLE gate (
    flow_id   TEXT NOT NULL,
    partition INTEGER NOT NULL,
    version   INTEGER NOT NULL CHECK (version > 0),
    tag       INTEGER NOT NULL,
    state     TEXT NOT NULL CHECK (state IN ('assembling', 'open', 'sealed', 'cancelled')),
    PRIMARY KEY (flow_id, partition)
) WITHOUT ROWID;

CREATE TABLE edge (
    edge_id    TEXT NOT NULL,
    partition  INTEGER NOT NULL,
    version    INTEGER NOT NULL CHECK (version > 0),
    tag        INTEGER NOT NULL,
    upstream   TEXT NOT NULL,
    downstream TEXT NOT NULL,
    state      TEXT NOT NULL CHECK (state IN ('staged', 'unresolved', 'satisfied', 'failed')),
    body       TEXT NOT NULL,
    PRIMARY KEY (edge_id, partition)
) WITHOUT ROWID;
CREATE INDEX edge_from ON edge (upstream, edge_id);
CREATE INDEX edge_unresolved ON edge (upstream, edge_id) WHERE state = 'unresolved';
CREATE INDEX edge_into ON edge (downstream, edge_id);

CREATE TABLE counter (
    partition INTEGER NOT NULL,
    owner     TEXT NOT NULL,
    name      TEXT NOT NULL,
    value     INTEGER NOT NULL,
    PRIMARY KEY (partition, owner, name)
) WITHOUT ROWID;

-- Records to be looked at soon. The key is the record's, as text.
CREATE TABLE nudge (
    partition INTEGER NOT NULL,
    key       TEXT NOT NULL,
    stamp     INTEGER NOT NULL,
    at        INTEGER NOT NULL,
    PRIMARY KEY (partition, key)
) WITHOUT ROWID;
CREATE INDEX nudge_by_age ON nudge (at, partition);

-- The output of an attempt, from its first frame on. One of a deleted execution stays until its frames are cleaned up.
CREATE TABLE stream (
    row              INTEGER PRIMARY KEY,
    uuid             TEXT NOT NULL,
    partition        INTEGER NOT NULL,
    attempt_index    INTEGER NOT NULL,
    frames           INTEGER NOT NULL CHECK (frames >= 0),
    last_millis      INTEGER NOT NULL,
    last_sequence    INTEGER NOT NULL,
    summary_revision INTEGER NOT NULL,
    closed_at        INTEGER,
    closed_reason    TEXT,
    is_deleted       INTEGER NOT NULL DEFAULT 0 CHECK (is_deleted IN (0, 1))
);
CREATE UNIQUE INDEX stream_by_attempt ON stream (uuid, partition, attempt_index) WHERE is_deleted = 0;
CREATE INDEX stream_deleted ON stream (row) WHERE is_deleted = 1;
CREATE TABLE frame (
    stream_row     INTEGER NOT NULL,
    millis         INTEGER NOT NULL,
    sequence       INTEGER NOT NULL,
    frame_type     TEXT NOT NULL,
    correlation_id TEXT,
    expires_at     INTEGER,
    content_type   TEXT NOT NULL,
    bytes          BLOB NOT NULL,
    -- What a repeated frame is recognised by.
    key            TEXT
);
CREATE UNIQUE INDEX frame_by_id ON frame (stream_row, millis, sequence);
CREATE UNIQUE INDEX frame_by_key ON frame (stream_row, key) WHERE key IS NOT NULL;
CREATE INDEX frame_expiring ON frame (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX frame_expiring_in_stream ON frame (stream_row, expires_at) WHERE expires_at IS NOT NULL;
-- The summary of a stream, apart from it: a stream is written with every frame, its summary seldom.
CREATE TABLE summary (
    stream_row INTEGER PRIMARY KEY,
    document   BLOB NOT NULL
);

CREATE TABLE budget (
    budget_id  TEXT PRIMARY KEY,
    partition  INTEGER NOT NULL,
    namespace  TEXT NOT NULL,
    generation INTEGER NOT NULL,
    is_deleted INTEGER NOT NULL CHECK (is_deleted IN (0, 1)),
    due_at     INTEGER,
    body       TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX budget_due ON budget (due_at, partition) WHERE due_at IS NOT NULL;
CREATE INDEX budget_listed ON budget (namespace, budget_id) WHERE is_deleted = 0;
-- Reports already counted, while they are remembered.
CREATE TABLE budget_report (
    budget_id  TEXT NOT NULL,
    key        TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    -- The effect that was counted under the key: sent again, it is the same report.
    effect_id  TEXT,
    PRIMARY KEY (budget_id, key)
) WITHOUT ROWID;
CREATE INDEX budget_report_expiring ON budget_report (expires_at);

CREATE TABLE quota_policy (
    quota_policy_id TEXT PRIMARY KEY,
    partition       INTEGER NOT NULL,
    namespace       TEXT NOT NULL,
    generation      INTEGER NOT NULL,
    is_deleted      INTEGER NOT NULL CHECK (is_deleted IN (0, 1)),
    due_at          INTEGER,
    slots           INTEGER NOT NULL CHECK (slots >= 0),
    -- Places from the first that may count to the next to be taken. They are numbered as they are taken, so that how many
    -- count, and when one more becomes free, is found without counting.
    first_place     INTEGER NOT NULL,
    next_place      INTEGER NOT NULL CHECK (next_place >= first_place),
    body            TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX quota_due ON quota_policy (due_at, partition) WHERE due_at IS NOT NULL;
CREATE INDEX quota_listed ON quota_policy (namespace, quota_policy_id) WHERE is_deleted = 0;
CREATE TABLE quota_slot (
    quota_policy_id TEXT NOT NULL,
    grant_id        TEXT NOT NULL,
    execution_id    TEXT NOT NULL,
    taken_at        INTEGER NOT NULL,
    PRIMARY KEY (quota_policy_id, grant_id)
) WITHOUT ROWID;
CREATE TABLE quota_place (
    quota_policy_id TEXT NOT NULL,
    number          INTEGER NOT NULL,
    taken_at        INTEGER NOT NULL,
    execution_id    TEXT NOT NULL,
    attempt_index   INTEGER NOT NULL,
    PRIMARY KEY (quota_policy_id, number)
) WITHOUT ROWID;
CREATE UNIQUE INDEX quota_place_by_attempt ON quota_place (quota_policy_id, execution_id, attempt_index);
CREATE INDEX quota_place_by_age ON quota_place (quota_policy_id, taken_at, number);
-- Grants that were released without a slot, while they could still ask for one.
CREATE TABLE quota_tombstone (
    quota_policy_id TEXT NOT NULL,
    grant_id        TEXT NOT NULL,
    released_at     INTEGER NOT NULL,
    PRIMARY KEY (quota_policy_id, grant_id)
) WITHOUT ROWID;
CREATE INDEX quota_tombstone_by_age ON quota_tombstone (released_at);
-- Deleted policies whose slots and places are not cleaned up yet.
CREATE TABLE quota_leftover (
    quota_policy_id TEXT PRIMARY KEY
) WITHOUT ROWID;

-- For people: what waits, where, and why.
CREATE VIEW waiting AS
    SELECT id, namespace, lane, kind, priority, state, blocking_reason, blocking_detail, created_at, due_at
    FROM execution
    WHERE is_open = 1 AND state <> 'active'
    ORDER BY namespace, lane, priority DESC, created_at;
