//! The one thread that writes. It takes everything that waits, commits it in one transaction, and acknowledges after the sync.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use ff_backend::{Error, Result};
use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::batch::{Batch, WriterState};
use crate::checkpoint::{Checkpointer, checkpoint};
use crate::database::Database;
use crate::error::store_error;
use crate::maintenance::tidy;
use crate::queues::Queues;
use crate::shared::Shared;
use crate::thread::Thread;

/// Jobs taken into one transaction at most. Beyond this latency grows faster than throughput.
const JOBS_MAX: usize = 256;
/// Batches after which the log is moved into the database, however busy the writer is, if they changed this many rows.
const CHECKPOINT_COMMITS: u64 = 64;
/// Small batches write the same few pages again and again: moving each of them would cost more than the writing.
const CHECKPOINT_ROWS: u64 = 16_000;
/// Batches after which it is moved however small they were.
const CHECKPOINT_COMMITS_MAX: u64 = 512;
/// Calls after which a step of maintenance runs in the same transaction, however busy the writer is: a call leaves at most a
/// few rows behind, and a step removes a few hundred.
const TIDY_JOBS: usize = 64;
/// With nothing to do for this long, the log is checkpointed and small maintenance runs.
const IDLE_AFTER: Duration = Duration::from_millis(200);

/// Does its work inside the batch, and answers when the batch is committed or lost.
type Job = Box<dyn FnOnce(&mut Batch<'_>) -> rusqlite::Result<Answer> + Send>;
type Answer = Box<dyn FnOnce(Result<()>) + Send>;

/// Sends jobs to the writer thread, which ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Writer {
    // Before the thread, which ends when nobody can send any more.
    jobs: Sender<Job>,
    _thread: Thread,
}

impl Writer {
    /// Starts the thread on its own connection.
    pub(crate) fn start(
        connection: Connection,
        checkpointer: Checkpointer,
        shared: Arc<Shared>,
        state: WriterState,
    ) -> std::io::Result<Self> {
        let (jobs, waiting) = channel();
        let thread = WriterThread {
            checkpointer,
            connection,
            shared,
            state,
            commits_since_checkpoint: 1,
            rows_at_checkpoint: 0,
            jobs_since_tidy: 0,
            is_tidy: true,
        };
        Ok(Self {
            jobs,
            _thread: Thread::start("ff-sqlite-writer", move || thread.run(&waiting))?,
        })
    }

    /// Runs `work` in the next batch and answers once that batch is on disk.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Batch<'_>) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T> {
        let (reply, answer) = oneshot::channel();
        let job: Job = Box::new(move |batch| match work(batch) {
            // Nobody waiting any more is no error: the caller was dropped.
            Ok(outcome) => Ok(Box::new(move |committed: Result<()>| {
                let _ = reply.send(committed.map(|()| outcome));
            })),
            Err(error) => {
                let _ = reply.send(Err(store_error(&error)));
                Err(error)
            }
        });
        let gone = || Error::Unavailable("the store is closed".to_owned());
        self.jobs.send(job).map_err(|_| gone())?;
        answer
            .await
            .unwrap_or_else(|_| Err(Error::Unavailable("the write failed; nothing was done".to_owned())))
    }
}

struct WriterThread {
    // Before the connection, which closes last: only then nothing but the database is left.
    checkpointer: Checkpointer,
    connection: Connection,
    shared: Arc<Shared>,
    state: WriterState,
    commits_since_checkpoint: u64,
    rows_at_checkpoint: u64,
    jobs_since_tidy: usize,
    /// The last step of maintenance left nothing to do.
    is_tidy: bool,
}

impl WriterThread {
    fn run(mut self, waiting: &Receiver<Job>) {
        let mut idle = false;
        loop {
            match waiting.recv_timeout(if idle { Duration::MAX } else { IDLE_AFTER }) {
                Ok(job) => {
                    idle = false;
                    self.take_batch(job, waiting);
                }
                Err(RecvTimeoutError::Timeout) => {
                    self.is_tidy = true;
                    self.commit(Vec::new());
                    // As long as there is something to tidy up, look again soon.
                    idle = self.is_tidy;
                    self.checkpoint();
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        self.checkpoint();
    }

    /// Takes everything that waits behind `first` into one transaction.
    fn take_batch(&mut self, first: Job, waiting: &Receiver<Job>) {
        // On a busy machine others may be about to send a job: they share this commit. On an idle one this returns at once.
        std::thread::yield_now();
        let mut jobs = vec![first];
        jobs.extend(waiting.try_iter().take(JOBS_MAX - 1));
        self.commit(jobs);
        self.keep_log_short();
    }

    /// Runs jobs in one transaction, and tidies up in it if there are none.
    fn commit(&mut self, jobs: Vec<Job>) {
        if let Some(why) = self.shared.stopped.get() {
            // Dropping the jobs tells their callers that nothing was done.
            tracing::error!(jobs = jobs.len(), %why, "writes are refused until the store is opened anew");
            return;
        }
        let mut answers = Vec::with_capacity(jobs.len());
        // A mistake in one call must not end the thread that writes for all of them.
        let ran = catch_unwind(AssertUnwindSafe(|| self.run_jobs(jobs, &mut answers)));
        match ran {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return self.roll_back(answers, &error.to_string()),
            Err(_) => return self.roll_back(answers, "a call panicked"),
        }
        match self.connection.execute_batch("COMMIT") {
            Ok(()) => {
                self.shared.count_commit(answers.len());
                self.commits_since_checkpoint += 1;
                // First: whoever has its answer finds the marks moved.
                self.shared.hints().send();
                for answer in answers {
                    answer(Ok(()));
                }
            }
            Err(error) => self.lose(answers, &error),
        }
    }

    /// Runs the jobs in an open transaction. Refusals are found before anything is written, so an error here is the store's.
    fn run_jobs(&mut self, jobs: Vec<Job>, answers: &mut Vec<Answer>) -> rusqlite::Result<()> {
        self.connection.execute_batch("BEGIN IMMEDIATE")?;
        let mut batch = Batch::begin(&self.connection, &self.shared, &mut self.state);
        self.jobs_since_tidy += jobs.len();
        let is_idle = jobs.is_empty();
        for job in jobs {
            answers.push(job(&mut batch)?);
        }
        if is_idle || self.jobs_since_tidy > TIDY_JOBS {
            self.jobs_since_tidy = 0;
            self.is_tidy = !tidy(&mut batch)?;
        }
        batch.finish()
    }

    /// Nothing of the batch was done, and everybody in it is told so. Who made it fail has its answer; the others did nothing
    /// wrong and may try again.
    fn roll_back(&mut self, answers: Vec<Answer>, why: &str) {
        tracing::error!(%why, "a batch of writes failed and was rolled back");
        if self.connection.execute_batch("ROLLBACK").is_err() {
            self.stop(why);
        }
        self.forget();
        for answer in answers {
            answer(Err(Error::Unavailable(format!(
                "another call of the batch failed: {why}"
            ))));
        }
    }

    /// The commit failed. What is on disk is unknown, and a failed sync must not be tried again on the same handle: the store
    /// stops writing until it is opened anew.
    fn lose(&mut self, answers: Vec<Answer>, error: &rusqlite::Error) {
        let why = format!("a commit failed and the store stopped writing: {error}");
        tracing::error!(%error, "a commit failed and the store stopped writing; restart to open it anew");
        self.stop(&why);
        // A failing rollback changes nothing: the store writes no more.
        let _ = self.connection.execute_batch("ROLLBACK");
        for answer in answers {
            answer(Err(Error::Unknown(why.clone())));
        }
    }

    fn stop(&self, why: &str) {
        // The first reason is the one to look at.
        let _ = self.shared.stopped.set(why.to_owned());
    }

    /// What was kept in memory about a batch that is gone.
    fn forget(&mut self) {
        self.shared.hints().forget();
        let database = Database::new(&self.connection);
        let read = WriterState::load(&database).and_then(|state| Ok((state, Queues::load(&database)?)));
        match read {
            Ok((state, queues)) => {
                self.state = state;
                *self.shared.queues() = queues;
            }
            Err(error) => self.stop(&error.to_string()),
        }
    }

    /// Has the log moved into the database once many batches stand in it. What is written meanwhile is little; moving it here,
    /// where nothing is written, lets the log start again from its front.
    fn keep_log_short(&mut self) {
        if self.checkpointer.has_ended() {
            self.checkpoint();
        } else if self.shared.stopped.get().is_none() && self.log_is_long() {
            self.checkpointer.begin();
        }
    }

    fn log_is_long(&self) -> bool {
        let commits = self.commits_since_checkpoint;
        let rows = self.connection.total_changes() - self.rows_at_checkpoint;
        commits > CHECKPOINT_COMMITS_MAX || (commits > CHECKPOINT_COMMITS && rows > CHECKPOINT_ROWS)
    }

    /// Moves what is in the log into the database.
    fn checkpoint(&mut self) {
        if self.shared.stopped.get().is_none() && self.commits_since_checkpoint > 0 {
            self.commits_since_checkpoint = 0;
            self.rows_at_checkpoint = self.connection.total_changes();
            checkpoint(&self.connection);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::migrate::create_tables;
    use crate::options::Options;
    use ff_core::time::Timestamp;

    /// A writer on a database whose commits fail once a row of `child` has no parent.
    fn writer() -> Writer {
        let connection = Connection::open_in_memory().unwrap();
        create_tables(&connection).unwrap();
        let children = "PRAGMA foreign_keys = ON; CREATE TABLE parent (id INTEGER PRIMARY KEY);
            CREATE TABLE child (id REFERENCES parent (id) DEFERRABLE INITIALLY DEFERRED)";
        connection.execute_batch(children).unwrap();
        let shared = Shared::new(
            Clock::start(Timestamp::default()),
            Queues::default(),
            &Options::new("unused"),
        );
        let checkpointer = Checkpointer::start(Connection::open_in_memory().unwrap()).unwrap();
        Writer::start(connection, checkpointer, Arc::new(shared), WriterState::default()).unwrap()
    }

    async fn run(writer: &Writer, sql: &'static str) -> Result<()> {
        writer
            .write(move |batch| batch.database.connection.execute_batch(sql))
            .await
    }

    #[tokio::test]
    async fn after_a_failed_commit_nothing_is_written_any_more() {
        let writer = writer();
        let lost = run(&writer, "INSERT INTO child VALUES (1)").await;
        assert!(matches!(lost, Err(Error::Unknown(_))), "{lost:?}");
        let refused = run(&writer, "INSERT INTO parent VALUES (1)").await;
        assert!(matches!(refused, Err(Error::Unavailable(_))), "{refused:?}");
    }

    #[tokio::test]
    async fn a_call_that_panics_is_told_so_and_the_next_one_is_written() {
        let writer = writer();
        let panicking = writer.write(|batch| -> rusqlite::Result<()> {
            batch
                .database
                .connection
                .execute_batch("INSERT INTO parent VALUES (1)")?;
            panic!("a mistake")
        });
        let failed = panicking.await;
        assert!(matches!(failed, Err(Error::Unavailable(_))), "{failed:?}");
        run(&writer, "INSERT INTO parent VALUES (1)").await.unwrap();
    }

    #[tokio::test]
    async fn a_failed_call_is_told_so_and_the_next_one_is_written() {
        let writer = writer();
        let failed = run(&writer, "INSERT INTO parent VALUES (1); INSERT INTO nowhere VALUES (1)").await;
        assert!(matches!(failed, Err(Error::Unavailable(_))), "{failed:?}");
        run(&writer, "INSERT INTO parent VALUES (1)").await.unwrap();
    }
}
