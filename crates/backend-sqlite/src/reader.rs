//! Connections that read beside the writer. Each call sees the store at one moment.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use ff_backend::{Error, Result};
use rusqlite::Connection;
use std::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::oneshot;

use crate::error::store_error;

type Job = Box<dyn FnOnce(&Connection) + Send>;

/// Threads that answer reads, each with its own connection.
#[derive(Debug)]
pub(crate) struct Readers {
    jobs: Option<Sender<Job>>,
    threads: Vec<JoinHandle<()>>,
}

impl Readers {
    /// Starts a thread per connection.
    pub(crate) fn start(connections: Vec<Connection>) -> std::io::Result<Self> {
        let (jobs, waiting) = channel();
        let waiting = Arc::new(Mutex::new(waiting));
        let threads = connections.into_iter().map(|connection| {
            let waiting = Arc::clone(&waiting);
            std::thread::Builder::new()
                .name("ff-sqlite-reader".to_owned())
                .spawn(move || run(&connection, &waiting))
        });
        Ok(Self {
            threads: threads.collect::<std::io::Result<_>>()?,
            jobs: Some(jobs),
        })
    }

    /// Runs `work` on one of the connections, inside a read transaction.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T> {
        let (reply, answer) = oneshot::channel();
        let job: Job = Box::new(move |connection| {
            // Nobody waiting any more is no error: the caller was dropped.
            let _ = reply.send(at_one_moment(connection, work).map_err(|error| store_error(&error)));
        });
        let closed = || Error::Unavailable("the store is closed".to_owned());
        self.jobs.as_ref().ok_or_else(closed)?.send(job).map_err(|_| closed())?;
        answer.await.unwrap_or_else(|_| Err(closed()))
    }
}

fn at_one_moment<T>(
    connection: &Connection,
    work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    let transaction = connection.unchecked_transaction()?;
    let answer = work(&transaction)?;
    transaction.commit()?;
    Ok(answer)
}

fn run(connection: &Connection, waiting: &Mutex<Receiver<Job>>) {
    loop {
        let job = waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
        match job {
            // Dropping the job tells its caller that it failed; the thread goes on for the others.
            Ok(job) => drop(catch_unwind(AssertUnwindSafe(|| job(connection)))),
            Err(_) => return,
        }
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        self.jobs = None;
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
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
        let one = readers.read(|connection| connection.query_row("SELECT 1", [], |row| row.get(0)));
        assert_eq!(one.await, Ok(1));
    }
}
