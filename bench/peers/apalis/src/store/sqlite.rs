use std::sync::Arc;

use apalis::prelude::{BackendExt, BoxDynError, TaskSink, WorkerBuilder, WorkerBuilderExt, WorkerContext};
use apalis_sqlite::{Config, SqliteConnectOptions, SqlitePool, SqlitePoolOptions, SqliteStorage};
use sqlx::sqlite::{SqliteJournalMode, SqliteSynchronous};

use super::{PAUSE, QUEUE, Working, working};
use crate::asked::Asked;
use crate::job::{Job, Runs};

pub struct Sqlite {
    batch: usize,
    storage: SqliteStorage<Job>,
    pool: SqlitePool,
}

impl Sqlite {
    pub async fn open(path: &str, asked: &Asked) -> anyhow::Result<Self> {
        let options = SqliteConnectOptions::new().filename(path).create_if_missing(true);
        // Its own set-up turns syncing off, on the connection that it gets: what stands here are promises that are kept, so that
        // the connections which work are others.
        let setup = SqlitePool::connect_with(options.clone()).await?;
        SqliteStorage::setup(&setup).await?;
        setup.close().await;
        let options = options
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full);
        // One writer at a time: more connections than one only wait for each other.
        let pool = SqlitePoolOptions::new()
            .max_connections(1)
            .connect_with(options)
            .await?;
        let config = Config::default()
            .queue(QUEUE)
            .batch_size(asked.batch)
            .lock_tasks(asked.leases);
        Ok(Self {
            batch: asked.batch,
            storage: SqliteStorage::new(&pool).with_config(config),
            pool,
        })
    }

    pub async fn submit(&self, jobs: Vec<Job>) -> anyhow::Result<()> {
        Ok(self.storage.clone().push_bulk(jobs).await?)
    }

    pub fn work(&self, number: usize, runs: Arc<Runs>) -> Working {
        working!(number, self.batch, runs, self.storage.clone().poll_with_interval(PAUSE))
    }

    pub async fn done(&self) -> anyhow::Result<i64> {
        Ok(sqlx::query_scalar("SELECT count(*) FROM Jobs WHERE status = 'Done'")
            .fetch_one(&self.pool)
            .await?)
    }
}
