//! A queue on SQLite with nothing kept about a task: how much of that is left is what a store is measured by.

use std::collections::HashSet;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, ensure};
use rusqlite::Connection;

use crate::rate;

/// Tasks in a transaction.
pub const BATCH: usize = 128;
/// Bytes of a task.
pub const PAYLOAD_BYTES: usize = 4_096;

/// What somebody writes in an afternoon: one table, one index, batches.
pub struct RawQueue(Connection);

impl RawQueue {
    /// Opens or creates it. What is committed is on disk.
    pub fn open(path: &Path) -> anyhow::Result<Self> {
        let connection = Connection::open(path)?;
        connection.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -65536;
             CREATE TABLE job (id INTEGER PRIMARY KEY, priority INTEGER NOT NULL, state INTEGER NOT NULL, worker TEXT,
                 lease_until INTEGER, payload BLOB NOT NULL);
             CREATE INDEX job_ready ON job (priority DESC, id) WHERE state = 0;",
        )?;
        Ok(Self(connection))
    }

    /// Submits, claims and completes tasks, each delivered exactly once: how many a second.
    pub fn round(&self, tasks: usize) -> anyhow::Result<f64> {
        let payload = vec![7_u8; PAYLOAD_BYTES];
        let start = Instant::now();
        let mut delivered = HashSet::with_capacity(tasks);
        while delivered.len() < tasks {
            self.submit(BATCH.min(tasks - delivered.len()), &payload)?;
            let claimed = self.claim(&payload)?;
            ensure!(!claimed.is_empty(), "the raw queue lost a task");
            for id in &claimed {
                ensure!(delivered.insert(*id), "the raw queue delivered task {id} twice");
            }
            self.complete(&claimed)?;
        }
        let rate = rate(tasks, start);
        let open = "SELECT count(*) FROM job WHERE state <> 2";
        let left: usize = self.0.query_row(open, [], |row| row.get(0))?;
        ensure!(left == 0, "the raw queue lost {left} tasks");
        Ok(rate)
    }

    fn submit(&self, tasks: usize, payload: &[u8]) -> anyhow::Result<()> {
        self.0.execute_batch("BEGIN IMMEDIATE")?;
        let mut insert = self
            .0
            .prepare_cached("INSERT INTO job (priority, state, payload) VALUES (0, 0, ?1)")?;
        for _ in 0..tasks {
            insert.execute([payload])?;
        }
        self.0.execute_batch("COMMIT").context("the raw queue could not commit")
    }

    fn claim(&self, payload: &[u8]) -> anyhow::Result<Vec<i64>> {
        self.0.execute_batch("BEGIN IMMEDIATE")?;
        let mut select = self
            .0
            .prepare_cached("SELECT id, payload FROM job WHERE state = 0 ORDER BY priority DESC, id LIMIT ?1")?;
        let rows = select.query_map([BATCH], |row| Ok((row.get(0)?, row.get::<_, Vec<u8>>(1)?)))?;
        let claimed: Vec<(i64, Vec<u8>)> = rows.collect::<rusqlite::Result<_>>()?;
        ensure!(
            claimed.iter().all(|(_, bytes)| bytes == payload),
            "a raw payload came back changed"
        );
        let mut update = self
            .0
            .prepare_cached("UPDATE job SET state = 1, worker = ?2, lease_until = ?3 WHERE id = ?1")?;
        for (id, _) in &claimed {
            update.execute((id, "bench-1", 1_i64))?;
        }
        self.0.execute_batch("COMMIT")?;
        Ok(claimed.into_iter().map(|(id, _)| id).collect())
    }

    fn complete(&self, ids: &[i64]) -> anyhow::Result<()> {
        self.0.execute_batch("BEGIN IMMEDIATE")?;
        let mut update = self
            .0
            .prepare_cached("UPDATE job SET state = 2, worker = NULL, lease_until = NULL WHERE id = ?1")?;
        for id in ids {
            update.execute([id])?;
        }
        self.0.execute_batch("COMMIT").context("the raw queue could not commit")
    }
}
