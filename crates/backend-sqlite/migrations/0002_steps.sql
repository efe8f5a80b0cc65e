-- What handlers have done already, by the name they gave it and by the order in which it was recorded.
CREATE TABLE step (
    uuid      TEXT NOT NULL,
    partition INTEGER NOT NULL,
    key       TEXT NOT NULL,
    seq       INTEGER NOT NULL,
    version   INTEGER NOT NULL CHECK (version > 0),
    tag       INTEGER NOT NULL,
    body      TEXT NOT NULL,
    PRIMARY KEY (uuid, partition, key)
) WITHOUT ROWID;
CREATE UNIQUE INDEX step_by_seq ON step (uuid, partition, seq);
CREATE TABLE step_output (
    uuid         TEXT NOT NULL,
    partition    INTEGER NOT NULL,
    seq          INTEGER NOT NULL,
    content_type TEXT NOT NULL,
    bytes        BLOB NOT NULL,
    PRIMARY KEY (uuid, partition, seq)
);
