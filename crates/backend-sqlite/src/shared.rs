//! What the writer, the readers and the callers share.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ff_backend::hint::HintBoard;
use ff_core::partition::PartitionCounts;

use crate::clock::Clock;
use crate::list::feed::Spans;
use crate::options::Options;
use crate::queues::Queues;

/// What the writer, the readers and the callers share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) path: PathBuf,
    pub(crate) clock: Clock,
    pub(crate) counts: PartitionCounts,
    pub(crate) feed_lines_max: u64,
    hints: Mutex<HintBoard>,
    queues: Mutex<Queues>,
    feed_spans: Mutex<Spans>,
    commits: AtomicU64,
    jobs: AtomicU64,
}

/// How much the writer has done since the store was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriterStats {
    /// Committed transactions of the database: with full durability each one is one sync of the log.
    pub commits: u64,
    /// Calls that wrote.
    pub jobs: u64,
}

impl Shared {
    pub(crate) fn new(clock: Clock, queues: Queues, options: &Options) -> Self {
        Self {
            path: options.path.clone(),
            clock,
            counts: options.counts,
            feed_lines_max: u64::try_from(options.feed_lines_max).unwrap_or(u64::MAX),
            hints: Mutex::new(HintBoard::default()),
            queues: Mutex::new(queues),
            feed_spans: Mutex::default(),
            commits: AtomicU64::new(0),
            jobs: AtomicU64::new(0),
        }
    }

    pub(crate) fn hints(&self) -> MutexGuard<'_, HintBoard> {
        self.hints.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the writer knows of the queues. While a batch is under way it is ahead of what readers see.
    pub(crate) fn queues(&self) -> MutexGuard<'_, Queues> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What readers have learned about the feed.
    pub(crate) fn feed_spans(&self) -> MutexGuard<'_, Spans> {
        self.feed_spans.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn count_commit(&self, jobs: usize) {
        self.commits.fetch_add(1, Ordering::Relaxed);
        self.jobs.fetch_add(jobs as u64, Ordering::Relaxed);
    }

    pub(crate) fn stats(&self) -> WriterStats {
        WriterStats {
            commits: self.commits.load(Ordering::Relaxed),
            jobs: self.jobs.load(Ordering::Relaxed),
        }
    }
}
