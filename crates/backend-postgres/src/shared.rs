//! What every call of a store shares.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use ff_backend::Result;
use ff_backend::hint::HintBoard;
use ff_backend::queues::FilledQueues;
use ff_backend::transaction::{Generation, Tag, Version};
use ff_core::name::LaneId;
use ff_core::partition::{Partition, PartitionCounts};
use ff_core::time::{Duration, Timestamp};
use tokio::sync::mpsc;

use crate::call::{Answer, Call, Connections, call};
use crate::error::corrupt;
use crate::floors::Floors;
use crate::queues::QueueNumbers;
use crate::rows::Caller;

/// Lanes that are claimed from at the same time.
const TURNS: usize = 16;

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
    floors: Mutex<Floors>,
    /// Whose turn it is to claim from a lane; some lanes share one.
    turns: [tokio::sync::Mutex<()>; TURNS],
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
            floors: Mutex::default(),
            turns: Default::default(),
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

    /// What a function answers that is told who calls it, and the time it answers with.
    pub(crate) async fn ask(&self, call: Call<'_>) -> Result<(Timestamp, Answer)> {
        let (now, mut rows) = self.ask_rows(call).await?;
        Ok((now, rows.swap_remove(0)))
    }

    /// The same of a function that answers several rows, at least one, each with the time.
    pub(crate) async fn ask_rows(&self, call: Call<'_>) -> Result<(Timestamp, Vec<Answer>)> {
        let caller = self.caller();
        let mut call: Call<'_> = call;
        call.names.push("caller");
        call.values.push(&caller);
        let function = call.function;
        let rows: Vec<Answer> = self.connections.rows(call).await?.into_iter().map(Answer).collect();
        let first = rows
            .first()
            .ok_or_else(|| corrupt(format!("{function} answered nothing")))?;
        let now = self.was_told(first.get("now")?);
        Ok((now, rows))
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

    /// Waits for a turn to claim from a lane. Claims that this process makes at once would only meet each other's locks.
    pub(crate) async fn turn(&self, lane: &LaneId) -> tokio::sync::MutexGuard<'_, ()> {
        let mut hasher = DefaultHasher::new();
        lane.hash(&mut hasher);
        let place = usize::try_from(hasher.finish() % TURNS as u64).unwrap_or_default();
        self.turns[place].lock().await
    }

    /// Which queues are believed to have work.
    pub(crate) fn filled_queues(&self) -> MutexGuard<'_, FilledQueues> {
        locked(&self.filled_queues)
    }

    /// Where queues begin.
    pub(crate) fn floors(&self) -> MutexGuard<'_, Floors> {
        locked(&self.floors)
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
        let drawn: i64 = rand::random();
        let (_, answer) = self.ask(call!(writing draw_generation(drawn: &drawn))).await?;
        self.reached.store(answer.get("reached")?, Ordering::Relaxed);
        Ok(Generation(answer.get::<i64>("generation")?.cast_unsigned()))
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

/// A number of things as a column holds it, with room for one more.
pub(crate) fn count(things: usize) -> i64 {
    i64::try_from(things).unwrap_or(i64::MAX - 1)
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
