//! Moving the write-ahead log into the database: most of it beside the writer, so that no call waits for it.

use std::sync::mpsc::{Receiver, Sender, channel};

use rusqlite::Connection;

use crate::thread::Thread;

/// Moves the log into the database as far as readers allow, without waiting for them.
pub(crate) fn checkpoint(connection: &Connection) {
    let done = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
    if let Err(error) = done {
        tracing::warn!(%error, "the log of the store could not be moved into its file; it grows until it can");
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
                checkpoint(&connection);
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
