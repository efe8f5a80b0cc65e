-- Which migrations this file has seen, and a checksum of their text.
-- Takes nothing.
CREATE TABLE IF NOT EXISTS migration (
    version    INTEGER PRIMARY KEY,
    checksum   TEXT NOT NULL,
    applied_at INTEGER NOT NULL
);
