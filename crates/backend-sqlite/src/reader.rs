//! Connections that read beside the writer. Each call sees the store at one moment.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use ff_backend::{Error, Result};
use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::database::Database;
use crate::error::store_error;
use crate::thread::Thread;

type Job = Box<dyn FnOnce(&Connection) + Send>;

/// Threads that answer reads, each with its own connection.
#[derive(Debug)]
pub(crate) struct Readers {
    line: Arc<Line>,
    _threads: Vec<Thread>,
}

/// Jobs that wait for a thread. One job wakes one thread.
#[derive(Default)]
struct Line {
    waiting: Mutex<Waiting>,
    grew: Condvar,
}

#[derive(Default)]
struct Waiting {
    jobs: VecDeque<Job>,
    closed: bool,
}

impl Line {
    fn push(&self, job: Job) {
        self.waiting().jobs.push_back(job);
        self.grew.notify_one();
    }

    /// The next job, when there is one; `None` once the store is closed and nobody waits any more.
    fn next(&self) -> Option<Job> {
        let is_idle = |waiting: &mut Waiting| waiting.jobs.is_empty() && !waiting.closed;
        let woken = self.grew.wait_while(self.waiting(), is_idle);
        woken.unwrap_or_else(PoisonError::into_inner).jobs.pop_front()
    }

    fn close(&self) {
        self.waiting().closed = true;
        self.grew.notify_all();
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Line").finish_non_exhaustive()
    }
}

impl Readers {
    /// Starts a thread per connection.
    pub(crate) fn start(connections: Vec<Connection>) -> std::io::Result<Self> {
        let line = Arc::<Line>::default();
        let threads = connections.into_iter().map(|connection| {
            let line = Arc::clone(&line);
            Thread::start("ff-sqlite-reader", move || run(&connection, &line))
        });
        Ok(Self {
            _threads: threads.collect::<std::io::Result<_>>()?,
            line,
        })
    }

    /// Runs `work` on one of the connections, inside a read transaction.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Database<'_>) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T> {
        let (reply, answer) = oneshot::channel();
        self.line.push(Box::new(move |connection| {
            // It has nothing to commit: the transaction ends with it.
            let moment = connection.unchecked_transaction();
            let read = moment.and_then(|moment| work(&Database::new(&moment)));
            // Nobody waiting any more is no error: the caller was dropped.
            let _ = reply.send(read.map_err(|error| store_error(&error)));
        }));
        let failed = |_| Err(Error::Unavailable("the read failed".to_owned()));
        answer.await.unwrap_or_else(failed)
    }
}

fn run(connection: &Connection, line: &Line) {
    while let Some(job) = line.next() {
        // Dropping the job tells its caller that it failed; the thread goes on for the others.
        drop(catch_unwind(AssertUnwindSafe(|| job(connection))));
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        self.line.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_call_that_panics_is_told_so_and_the_next_one_is_answered() {
        let readers = Readers::start(vec![Connection::open_in_memory().unwrap()]).unwrap();
        let failed: Result<()> = readers.read(|_| panic!("a mistake")).await;
        assert!(matches!(failed, Err(Error::Unavailable(_))), "{failed:?}");
        let one = readers.read(|database| database.connection.query_row("SELECT 1", [], |row| row.get(0)));
        assert_eq!(one.await, Ok(1));
    }
}
