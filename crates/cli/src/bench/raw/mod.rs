//! What the same server does as a bare queue, with nothing kept about a task: how much of that is left is what a store is measured by.

mod postgres;
mod valkey;

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::load::LoadArguments;
use super::measured::StoreArguments;
use super::submit::{BATCH, shares};
use crate::open::Address;

/// A bare queue on the server of the store.
pub(super) enum Raw {
    Valkey(valkey::List),
    Postgres(postgres::Table),
}

/// What a bare queue can do. Tasks are payloads.
trait Queue: Clone + Send + 'static {
    /// Adds tasks.
    fn push(&self, payloads: Vec<Vec<u8>>) -> impl Future<Output = anyhow::Result<()>> + Send;

    /// Takes up to `batch` tasks for a worker, and acknowledges them.
    fn take(&self, worker: usize, batch: usize) -> impl Future<Output = anyhow::Result<Vec<Vec<u8>>>> + Send;
}

impl Raw {
    /// The one beside a store, if it is on a server.
    pub(super) async fn beside(store: &StoreArguments) -> anyhow::Result<Option<Self>> {
        Ok(match &store.store {
            // A list is in one slot: it says nothing about a cluster.
            Some(Address::Valkey(urls)) => match &urls[..] {
                [url] => Some(Self::Valkey(valkey::List::open(url).await?)),
                _ => None,
            },
            Some(Address::Postgres(urls)) => Some(Self::Postgres(postgres::Table::open(&urls.concat()).await?)),
            _ => None,
        })
    }

    /// What it is.
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Valkey(_) => "a bare list on the same server",
            Self::Postgres(_) => "a raw SKIP LOCKED queue on the same server",
        }
    }

    /// Runs tasks through it, each delivered exactly once: how many a second. There are more of them than of the store's, for rounds
    /// that are long enough to measure.
    pub(super) async fn rate(&self, load: LoadArguments, tasks: usize) -> anyhow::Result<f64> {
        let (tasks, took) = match self {
            Self::Valkey(list) => (4 * tasks, round(list, load, 4 * tasks).await?),
            Self::Postgres(table) => (2 * tasks, round(table, load, 2 * tasks).await?),
        };
        Ok(tasks as f64 / took.as_secs_f64())
    }
}

/// Tasks that are not done, and who waits for more of them.
struct Left {
    tasks: AtomicUsize,
    /// Told when there may be more, and when there will be none.
    changed: Notify,
}

async fn round(queue: &impl Queue, load: LoadArguments, tasks: usize) -> anyhow::Result<Duration> {
    let left = Arc::new(Left {
        tasks: AtomicUsize::new(tasks),
        changed: Notify::new(),
    });
    let started = Instant::now();
    let workers: Vec<_> = (0..load.workers)
        .map(|number| tokio::spawn(work(queue.clone(), number, load.batch, Arc::clone(&left))))
        .collect();
    let pushers: Vec<_> = shares(tasks, load.submitters)
        .into_iter()
        .map(|share| tokio::spawn(push(queue.clone(), load.payload, share, Arc::clone(&left))))
        .collect();
    for pusher in pushers {
        pusher.await??;
    }
    let mut seen = vec![false; tasks];
    for worker in workers {
        for number in worker.await?? {
            anyhow::ensure!(
                !std::mem::replace(&mut seen[number], true),
                "the raw queue delivered a task twice"
            );
        }
    }
    let took = started.elapsed();
    anyhow::ensure!(seen.iter().all(|seen| *seen), "the raw queue lost a task");
    Ok(took)
}

async fn push(queue: impl Queue, bytes: usize, share: std::ops::Range<usize>, left: Arc<Left>) -> anyhow::Result<()> {
    let numbers: Vec<usize> = share.collect();
    let payload = |number: &usize| {
        let mut payload = vec![7; bytes.max(8)];
        payload[..8].copy_from_slice(&(*number as u64).to_be_bytes());
        payload
    };
    for chunk in numbers.chunks(BATCH) {
        queue.push(chunk.iter().map(payload).collect()).await?;
        left.changed.notify_waiters();
    }
    Ok(())
}

async fn work(queue: impl Queue, worker: usize, batch: usize, left: Arc<Left>) -> anyhow::Result<Vec<usize>> {
    let mut done = Vec::new();
    loop {
        let changed = left.changed.notified();
        if left.tasks.load(Ordering::Relaxed) == 0 {
            return Ok(done);
        }
        let taken = queue.take(worker, batch).await?;
        if taken.is_empty() {
            changed.await;
            continue;
        }
        for payload in &taken {
            let mut number = [0; 8];
            number.copy_from_slice(&payload[..8]);
            done.push(usize::try_from(u64::from_be_bytes(number))?);
        }
        if left.tasks.fetch_sub(taken.len(), Ordering::Relaxed) == taken.len() {
            left.changed.notify_waiters();
        }
    }
}
