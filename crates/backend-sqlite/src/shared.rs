//! What the writer, the readers and the callers share.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use ff_backend::hint::HintBoard;

use crate::clock::Clock;
use crate::list::feed::Spans;
use crate::options::Options;
use crate::queues::Queues;

/// What the writer, the readers and the callers share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) options: Options,
    pub(crate) clock: Clock,
    hints: Mutex<HintBoard>,
    queues: Mutex<Queues>,
    feed_spans: Mutex<Spans>,
    stats: Mutex<WriterStats>,
    /// Why nothing is written any more: after a failed sync the same handle must not be trusted again.
    pub(crate) stopped: OnceLock<String>,
}

/// How much the writer has done since the store was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriterStats {
    /// Committed transactions of the database: with full durability each one is one sync of the log.
    pub commits: u64,
    /// Calls that wrote.
    pub jobs: u64,
}

impl Shared {
    pub(crate) fn new(clock: Clock, queues: Queues, options: &Options) -> Self {
        Self {
            options: options.clone(),
            clock,
            hints: Mutex::default(),
            queues: Mutex::new(queues),
            feed_spans: Mutex::default(),
            stats: Mutex::default(),
            stopped: OnceLock::new(),
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
        let mut stats = self.stats();
        stats.commits += 1;
        stats.jobs += jobs as u64;
    }

    pub(crate) fn stats(&self) -> MutexGuard<'_, WriterStats> {
        self.stats.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
