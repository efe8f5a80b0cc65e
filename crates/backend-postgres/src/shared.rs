//! What every call of a store shares.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use ff_backend::Result;
use ff_backend::hint::HintBoard;
use ff_backend::queues::FilledQueues;
use ff_backend::transaction::{Generation, Tag, Version};
use ff_core::partition::{Partition, PartitionCounts};
use ff_core::time::{Duration, Timestamp};
use tokio::sync::mpsc;

use crate::call::{Connections, call};
use crate::error::corrupt;
use crate::queues::QueueNumbers;
use crate::rows::Caller;

/// The connections, and what this process knows of the store.
pub(crate) struct Shared {
    pub(crate) connections: Connections,
    pub(crate) counts: PartitionCounts,
    system_identifier: i64,
    /// The latest moment this process was told.
    seen: AtomicI64,
    /// How far it has seen the log of the store reach: one that is shorter has lost writes.
    reached: AtomicI64,
    /// What the store adds to its clock for this process. Only tests move it.
    clock_offset: AtomicI64,
    opened_at: Instant,
    pub(crate) queue_numbers: QueueNumbers,
    filled_queues: Mutex<FilledQueues>,
    /// Entries of queues that were looked at to hand something out.
    pub(crate) visited: AtomicU64,
    /// How often queues were looked at or written to by this process: what comes later is known better.
    looks: AtomicI64,
    hints: Mutex<HintBoard>,
    /// What this process is called by itself, so that it recognises what it has told.
    pub(crate) name: String,
    /// What other processes are told.
    pub(crate) told: mpsc::UnboundedSender<String>,
}

impl Shared {
    pub(crate) fn new(
        connections: Connections,
        counts: PartitionCounts,
        (system_identifier, mark): (i64, i64),
        told: mpsc::UnboundedSender<String>,
    ) -> Self {
        Self {
            connections,
            counts,
            system_identifier,
            seen: AtomicI64::new(mark),
            reached: AtomicI64::new(0),
            clock_offset: AtomicI64::new(0),
            opened_at: Instant::now(),
            queue_numbers: QueueNumbers::default(),
            filled_queues: Mutex::default(),
            visited: AtomicU64::new(0),
            looks: AtomicI64::new(0),
            hints: Mutex::default(),
            name: format!("{:016x}", rand::random::<u64>()),
            told,
        }
    }

    /// What every call says of who makes it.
    pub(crate) fn caller(&self) -> Caller {
        Caller {
            clock_offset: self.clock_offset.load(Ordering::Relaxed),
            seen: self.seen.load(Ordering::Relaxed),
            system_identifier: self.system_identifier,
            reached: self.reached.load(Ordering::Relaxed),
        }
    }

    /// Remembers the time an answer told.
    pub(crate) fn was_told(&self, now: i64) -> Timestamp {
        self.seen.fetch_max(now, Ordering::Relaxed);
        moment(now)
    }

    /// Moves the clock this process asks the store to use.
    pub(crate) fn advance_clock(&self, by: Duration) {
        self.clock_offset
            .fetch_add(by.as_millis().cast_signed(), Ordering::Relaxed);
    }

    /// How long the store is open, by a clock that tests move with the store's.
    pub(crate) fn elapsed(&self) -> std::time::Duration {
        let moved = self.clock_offset.load(Ordering::Relaxed).unsigned_abs();
        self.opened_at.elapsed() + std::time::Duration::from_millis(moved)
    }

    /// Which queues are believed to have work.
    pub(crate) fn filled_queues(&self) -> MutexGuard<'_, FilledQueues> {
        locked(&self.filled_queues)
    }

    /// A number for what is seen of queues from now on.
    pub(crate) fn next_look(&self) -> u64 {
        self.looks.fetch_add(1, Ordering::Relaxed).unsigned_abs()
    }

    pub(crate) fn hints(&self) -> MutexGuard<'_, HintBoard> {
        locked(&self.hints)
    }

    /// The generation an answer told, with how far the log reached then; or a new one, where there is none.
    pub(crate) async fn generation(&self, told: Option<i64>, reached: i64) -> Result<Generation> {
        if let Some(number) = told {
            self.reached.fetch_max(reached, Ordering::Relaxed);
            return Ok(Generation(number.cast_unsigned()));
        }
        let (caller, drawn) = (self.caller(), rand::random::<i64>());
        let row = self
            .connections
            .row(call!(writing draw_generation(caller: &caller, drawn: &drawn)))
            .await?;
        let number: i64 = row.try_get("generation").map_err(corrupt)?;
        self.reached
            .store(row.try_get("reached").map_err(corrupt)?, Ordering::Relaxed);
        Ok(Generation(number.cast_unsigned()))
    }
}

/// What is behind a lock. Nobody panics while holding one halfway through a change.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A moment that stands in a column.
pub(crate) const fn moment(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis.cast_unsigned())
}

/// A moment as a column holds it.
pub(crate) fn millis(at: Timestamp) -> i64 {
    at.as_millis().cast_signed()
}

/// A length of time as a column holds it.
pub(crate) fn duration(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

/// The number of a partition as a column holds it.
pub(crate) fn number(partition: Partition) -> i16 {
    partition.index.cast_signed()
}

/// The flow partition with a number that stands in a column.
pub(crate) const fn partition(number: i16) -> Partition {
    Partition::flow(number.cast_unsigned())
}

/// A version that stands in two columns.
pub(crate) const fn version(counter: i64, tag: i64) -> Version {
    Version {
        counter: counter.cast_unsigned(),
        tag: Tag(tag.cast_unsigned()),
    }
}
