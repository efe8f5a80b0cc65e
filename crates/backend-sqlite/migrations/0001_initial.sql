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
    -- The newest lines of its history, one JSON document a line; older ones move to the table `history`.
    history         TEXT NOT NULL,
    history_first   INTEGER NOT NULL DEFAULT 0,
    history_lines   INTEGER NOT NULL,
    body            TEXT NOT NULL,
    -- Nothing: about as much as the row will grow until its execution ends. A row that grows pushes others off its page.
    room            BLOB
);
CREATE UNIQUE INDEX execution_by_id ON execution (uuid, partition);
CREATE INDEX execution_by_age ON execution (namespace, created_at, uuid, partition);
CREATE INDEX execution_newest ON execution (created_at, uuid, partition);
CREATE INDEX execution_queued ON execution (queue_id, priority DESC, created_at, uuid, partition) WHERE queue_id IS NOT NULL;
CREATE INDEX execution_due ON execution (due_at, partition) WHERE due_at IS NOT NULL;

-- Lists that records are entered in one by one: where a record stands in which, and its key as text.
CREATE TABLE entry (
    name      TEXT NOT NULL,
    sort      TEXT NOT NULL,
    partition INTEGER NOT NULL,
    key       TEXT NOT NULL,
    PRIMARY KEY (name, sort)
) STRICT, WITHOUT ROWID;
-- Which accounts hold back work of a partition.
CREATE INDEX entry_blocked ON entry (partition, name, sort) WHERE substr(name, 1, 8) = 'blocked:';

-- How many executions of a lane are in which state.
CREATE TABLE lane_depth (
    namespace TEXT NOT NULL,
    lane      TEXT NOT NULL,
    state     TEXT NOT NULL,
    count     INTEGER NOT NULL CHECK (count >= 0),
    PRIMARY KEY (namespace, lane, state)
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

-- What came with signals, and what steps left: `signal:<id>`, `step:<place>`.
CREATE TABLE payload (
    uuid         TEXT NOT NULL,
    partition    INTEGER NOT NULL,
    name         TEXT NOT NULL,
    content_type TEXT NOT NULL,
    bytes        BLOB NOT NULL,
    PRIMARY KEY (uuid, partition, name)
) STRICT;

-- Records of every kind but executions. The key says the kind and what tells it apart, as in `waitpoint:<uuid>:<id>`.
CREATE TABLE record (
    key        TEXT NOT NULL,
    partition  INTEGER NOT NULL,
    version    INTEGER NOT NULL CHECK (version > 0),
    tag        INTEGER NOT NULL,
    due_at     INTEGER,
    -- Remembered no longer from then on.
    expires_at INTEGER,
    -- The place of a step among those of its execution.
    seq        INTEGER,
    body       TEXT NOT NULL,
    PRIMARY KEY (key, partition)
) STRICT, WITHOUT ROWID;
CREATE INDEX record_due ON record (due_at, partition) WHERE due_at IS NOT NULL;
CREATE INDEX record_expiring ON record (expires_at) WHERE expires_at IS NOT NULL;
-- `step:<uuid>` has 41 letters.
CREATE UNIQUE INDEX record_step ON record (substr(key, 1, 41), partition, seq) WHERE seq IS NOT NULL;

-- Histories in chunks, each under the key of what it is about. The newest lines of an execution stand on its row.
CREATE TABLE history (
    key       TEXT NOT NULL,
    partition INTEGER NOT NULL,
    first     INTEGER NOT NULL,
    count     INTEGER NOT NULL,
    lines     TEXT NOT NULL,
    PRIMARY KEY (key, partition, first)
) STRICT, WITHOUT ROWID;

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

-- Accounts: integers and moments that limit others. What they mean is said by whoever made them, in a body nobody here reads.
-- The key is the account's, as text; the partition its tag.
CREATE TABLE account (
    account      TEXT PRIMARY KEY,
    partition    TEXT NOT NULL,
    version      INTEGER NOT NULL CHECK (version > 0),
    revision     INTEGER NOT NULL CHECK (revision > 0),
    body         TEXT NOT NULL,
    stale_at     INTEGER,
    due_at       INTEGER,
    due_stamp    INTEGER NOT NULL,
    generation   INTEGER NOT NULL,
    marks        INTEGER NOT NULL CHECK (marks >= 0),
    -- The last limit that was passed: what counts it, which number, how much, the limit, when.
    last         TEXT CHECK (last IS NULL OR json_valid(last)),
    listed_in    TEXT,
    -- Places are numbered as they are taken, so that how many count, and when one more becomes free, is found without
    -- counting: the oldest that has a row, the first that may still count, the next to be taken, and how many between
    -- these two were given back.
    oldest_place INTEGER NOT NULL,
    first_place  INTEGER NOT NULL CHECK (first_place >= oldest_place),
    next_place   INTEGER NOT NULL CHECK (next_place >= first_place),
    gaps         INTEGER NOT NULL CHECK (gaps >= 0)
) STRICT, WITHOUT ROWID;
CREATE INDEX account_due ON account (due_at, partition) WHERE due_at IS NOT NULL;
CREATE INDEX account_listed ON account (listed_in, account) WHERE listed_in IS NOT NULL;
CREATE INDEX account_with_past ON account (account) WHERE oldest_place < first_place;

CREATE TABLE meter (
    account TEXT NOT NULL,
    meter   TEXT NOT NULL,
    used    INTEGER NOT NULL,
    held    INTEGER NOT NULL,
    PRIMARY KEY (account, meter)
) STRICT, WITHOUT ROWID;

-- What grants have taken.
CREATE TABLE hold (
    account  TEXT NOT NULL,
    grant_id TEXT NOT NULL,
    holder   TEXT NOT NULL,
    taken_at INTEGER NOT NULL,
    tier     INTEGER NOT NULL,
    body     TEXT NOT NULL CHECK (json_valid(body)),
    PRIMARY KEY (account, grant_id)
) STRICT, WITHOUT ROWID;

-- What is remembered until a moment: names under which something was drawn, with the effect that brought it, and grants that
-- are refused.
CREATE TABLE seen (
    account TEXT NOT NULL,
    name    TEXT NOT NULL,
    bearer  TEXT,
    until   INTEGER NOT NULL,
    PRIMARY KEY (account, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX seen_by_end ON seen (until);

-- The log of an account. A place that was given back has no name, and keeps its number.
CREATE TABLE place (
    account  TEXT NOT NULL,
    number   INTEGER NOT NULL,
    taken_at INTEGER NOT NULL,
    name     TEXT,
    PRIMARY KEY (account, number)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX place_by_name ON place (account, name) WHERE name IS NOT NULL;
CREATE INDEX place_by_age ON place (account, taken_at, number);
CREATE INDEX place_gap ON place (account, number) WHERE name IS NULL;

-- For people: what waits, where, and why.
CREATE VIEW waiting AS
    SELECT id, namespace, lane, kind, priority, state, blocking_reason, blocking_detail, created_at, due_at
    FROM execution
    WHERE is_open = 1 AND state <> 'active'
    ORDER BY namespace, lane, priority DESC, created_at;
