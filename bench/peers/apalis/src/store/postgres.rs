use std::sync::Arc;

use apalis::prelude::{BackendExt, BoxDynError, TaskSink, WorkerBuilder, WorkerBuilderExt, WorkerContext};
use apalis_postgres::{Config, PgPool, PostgresStorage};
use sqlx::postgres::PgPoolOptions;

use super::{PAUSE, QUEUE, Working, working};
use crate::SUBMITTERS;
use crate::asked::Asked;
use crate::job::{Job, Runs};

pub struct Postgres {
    batch: usize,
    storage: PostgresStorage<Job>,
    pool: PgPool,
}

impl Postgres {
    pub async fn open(asked: &Asked) -> anyhow::Result<Self> {
        // One for every worker and every submitter, and one to count with.
        let connections = u32::try_from(asked.workers + SUBMITTERS + 1)?;
        let pool = PgPoolOptions::new()
            .max_connections(connections)
            .connect(&asked.store)
            .await?;
        PostgresStorage::setup(&pool).await?;
        let config = Config::default()
            .queue(QUEUE)
            .batch_size(asked.batch)
            .lock_tasks(asked.leases);
        Ok(Self {
            batch: asked.batch,
            storage: PostgresStorage::new(&pool).with_config(config),
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
        let done = "SELECT count(*) FROM apalis.jobs WHERE status = 'Done'";
        Ok(sqlx::query_scalar(done).fetch_one(&self.pool).await?)
    }
}
