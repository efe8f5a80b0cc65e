//! Moving the write-ahead log into the database: most of it beside the writer, so that no call waits for it.

use std::sync::mpsc::{Receiver, Sender, channel};

use rusqlite::Connection;

use crate::thread::Thread;

/// Pages that may be left to the writer: moving these takes about as long as a commit.
const REST_PAGES: i64 = 512;
/// How often what was written meanwhile is moved too. Each time is shorter than the one before, or the writer is faster than this.
const PASSES_MAX: usize = 5;

/// Moves the log into the database as far as readers allow, without waiting for them; up to which page of the log.
pub(crate) fn checkpoint(connection: &Connection) -> Option<i64> {
    let moved = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| row.get(2));
    if let Err(error) = &moved {
        tracing::warn!(%error, "the log of the store could not be moved into its file; it grows until it can");
    }
    moved.ok()
}

/// Moves what is in the log, then what came meanwhile, until little comes.
fn catch_up(connection: &Connection) {
    let mut last = 0;
    for _ in 0..PASSES_MAX {
        match checkpoint(connection) {
            Some(end) if end - last > REST_PAGES => last = end,
            _ => return,
        }
    }
}

/// A thread that moves the log while the writer goes on.
#[derive(Debug)]
pub(crate) struct Checkpointer {
    // Before the thread, which ends when nobody can ask any more.
    requests: Sender<()>,
    ended: Receiver<()>,
    is_running: bool,
    _thread: Thread,
}

impl Checkpointer {
    /// Starts the thread on its own connection.
    pub(crate) fn start(connection: Connection) -> std::io::Result<Self> {
        let (requests, asked) = channel();
        let (end, ended) = channel();
        let thread = Thread::start("ff-sqlite-log", move || {
            while let Ok(()) = asked.recv() {
                catch_up(&connection);
                // A writer that is gone needs no answer.
                let _ = end.send(());
            }
        })?;
        Ok(Self {
            requests,
            ended,
            is_running: false,
            _thread: thread,
        })
    }

    /// Begins to move what is in the log now, unless that is under way.
    pub(crate) fn begin(&mut self) {
        self.is_running = self.is_running || self.requests.send(()).is_ok();
    }

    /// Whether what was begun has ended; true once for each time.
    pub(crate) fn has_ended(&mut self) -> bool {
        let ended = self.is_running && self.ended.try_recv().is_ok();
        self.is_running &= !ended;
        ended
    }
}
