//! What every call of a store shares.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use ff_backend::hint::Hint;
use ff_backend::query::Head;
use ff_backend::queues::FilledQueues;
use ff_core::partition::PartitionCounts;
use ff_core::time::{Duration, Timestamp};
use tokio::sync::broadcast;

use crate::client::Client;
use crate::watch::Watch;

/// The connections, and what this process knows of the store.
pub(crate) struct Shared {
    pub(crate) client: Client,
    pub(crate) counts: PartitionCounts,
    /// Where hints are published.
    pub(crate) channel: String,
    pub(crate) feed_lines_max: u32,
    pub(crate) hints: broadcast::Sender<Hint>,
    filled_queues: Mutex<FilledQueues>,
    /// The first timer of each partition, the first that each cause holds back in it, and whether its queues are known.
    pub(crate) agendas: Mutex<Watch<Option<Timestamp>>>,
    pub(crate) blocked: Mutex<Watch<Vec<Head>>>,
    pub(crate) queues: Mutex<Watch<()>>,
    opened_at: Instant,
    /// What the store's functions add to their clock. Only tests move it.
    clock_offset_ms: AtomicI64,
    /// The last time the store told, without the offset, and when.
    told: Mutex<Option<(u64, Instant)>>,
}

impl Shared {
    pub(crate) fn new(client: Client, counts: PartitionCounts, channel: String, feed_lines_max: u32) -> Self {
        Self {
            client,
            counts,
            channel,
            feed_lines_max,
            hints: broadcast::Sender::new(4_096),
            filled_queues: Mutex::default(),
            agendas: Mutex::default(),
            blocked: Mutex::default(),
            queues: Mutex::default(),
            opened_at: Instant::now(),
            clock_offset_ms: AtomicI64::new(0),
            told: Mutex::default(),
        }
    }

    /// Nothing that was seen is believed any more: hints were lost.
    pub(crate) fn doubt_everything(&self) {
        self.filled_queues().doubt();
        locked(&self.agendas).forget();
        locked(&self.blocked).forget();
        locked(&self.queues).forget();
    }

    /// Which queues are believed to have work.
    pub(crate) fn filled_queues(&self) -> MutexGuard<'_, FilledQueues> {
        locked(&self.filled_queues)
    }

    /// How long the store is open, by a clock that tests move with the store's.
    pub(crate) fn elapsed(&self) -> std::time::Duration {
        self.opened_at.elapsed() + std::time::Duration::from_millis(self.clock_offset_ms().unsigned_abs())
    }

    pub(crate) fn clock_offset_ms(&self) -> i64 {
        self.clock_offset_ms.load(Ordering::Relaxed)
    }

    pub(crate) fn advance_clock(&self, by: Duration) {
        self.clock_offset_ms
            .fetch_add(by.as_millis().cast_signed(), Ordering::Relaxed);
    }

    /// Remembers the time a reply told.
    pub(crate) fn was_told(&self, now: Timestamp) {
        let wall = now.as_millis().saturating_add_signed(-self.clock_offset_ms());
        let mut told = locked(&self.told);
        if told.is_none_or(|(before, _)| wall >= before) {
            *told = Some((wall, Instant::now()));
        }
    }

    /// The store's time as far as it is known without asking; never ahead of it.
    pub(crate) fn estimated_now(&self) -> Option<Timestamp> {
        let (wall, at) = (*locked(&self.told))?;
        let passed = u64::try_from(at.elapsed().as_millis()).unwrap_or(u64::MAX);
        Some(Timestamp::from_millis(
            wall.saturating_add(passed)
                .saturating_add_signed(self.clock_offset_ms()),
        ))
    }
}

/// What is behind a lock. Nobody panics while holding one halfway through a change.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
