//! The storages of apalis.

mod postgres;
mod redis;
mod sqlite;

use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;
use apalis::prelude::{WorkerContext, WorkerError};
use tokio::task::JoinHandle;

use crate::asked::Asked;
use crate::job::{Job, Runs};

/// How long a worker that found nothing waits before it looks again, where nobody tells it of more.
const PAUSE: Duration = Duration::from_millis(5);
const QUEUE: &str = "bench";

pub enum Store {
    Redis(redis::Redis),
    Postgres(postgres::Postgres),
    Sqlite(sqlite::Sqlite),
}

/// A worker under way.
pub struct Working {
    context: WorkerContext,
    ended: JoinHandle<Result<(), WorkerError>>,
}

impl Working {
    pub async fn stop(self) -> anyhow::Result<()> {
        self.context.stop()?;
        Ok(self.ended.await??)
    }
}

impl Store {
    pub async fn open(asked: &Asked) -> anyhow::Result<Self> {
        Ok(match asked.store.split_once(':') {
            Some(("redis" | "valkey", _)) => Self::Redis(redis::Redis::open(asked).await?),
            Some(("postgres" | "postgresql", _)) => Self::Postgres(postgres::Postgres::open(asked).await?),
            Some(("sqlite", path)) => Self::Sqlite(sqlite::Sqlite::open(path, asked).await?),
            _ => bail!("--store takes redis://…, postgres://… or sqlite:PATH"),
        })
    }

    pub const fn name(&self) -> &'static str {
        match self {
            Self::Redis(_) => "Valkey",
            Self::Postgres(_) => "PostgreSQL",
            Self::Sqlite(_) => "SQLite (Full)",
        }
    }

    /// Adds tasks in one call.
    pub async fn submit(&self, jobs: Vec<Job>) -> anyhow::Result<()> {
        match self {
            Self::Redis(store) => store.submit(jobs).await,
            Self::Postgres(store) => store.submit(jobs).await,
            Self::Sqlite(store) => store.submit(jobs).await,
        }
    }

    /// Starts a worker.
    pub fn work(&self, number: usize, runs: &Arc<Runs>) -> Working {
        match self {
            Self::Redis(store) => store.work(number, Arc::clone(runs)),
            Self::Postgres(store) => store.work(number, Arc::clone(runs)),
            Self::Sqlite(store) => store.work(number, Arc::clone(runs)),
        }
    }

    /// How many tasks it has taken as done.
    pub async fn done(&self) -> anyhow::Result<usize> {
        let done = match self {
            Self::Redis(store) => store.done().await?,
            Self::Postgres(store) => store.done().await?,
            Self::Sqlite(store) => store.done().await?,
        };
        Ok(usize::try_from(done)?)
    }
}

/// Runs a worker of a backend; its type has too many parts to be written down.
///
/// It has no more tasks under way than it fetches at once: what it tells of more of them does not fit where that waits to be written, and
/// then it stops until its next heartbeat, half a minute later.
macro_rules! working {
    ($number:expr, $batch:expr, $runs:expr, $backend:expr) => {{
        let (context, runs, backend) = (WorkerContext::new(&format!("bench-{}", $number)), $runs, $backend);
        let worker = WorkerBuilder::new(&context)
            .backend(backend)
            .concurrency($batch)
            .build(move |job: Job| {
                runs.ran(&job);
                async { Ok::<(), BoxDynError>(()) }
            });
        let ended = tokio::spawn(worker.run());
        Working { context, ended }
    }};
}
use working;
