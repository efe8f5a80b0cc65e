use std::sync::Arc;

use apalis::prelude::{BackendExt, BoxDynError, TaskSink, WorkerBuilder, WorkerBuilderExt, WorkerContext};
use apalis_redis::{Config, ConnectionManager, RedisStorage};

use super::{PAUSE, QUEUE, Working, working};
use crate::asked::Asked;
use crate::job::{Job, Runs};

pub struct Redis {
    batch: usize,
    storage: RedisStorage<Job>,
    connection: ConnectionManager,
    done: String,
}

impl Redis {
    pub async fn open(asked: &Asked) -> anyhow::Result<Self> {
        let url = asked.store.replacen("valkey:", "redis:", 1);
        let connection = apalis_redis::connect(url.as_str()).await?;
        let config = Config::default()
            .queue(QUEUE)
            .batch_size(asked.batch)
            .lock_tasks(asked.leases)
            .emit_events(false);
        Ok(Self {
            batch: asked.batch,
            done: config.done_jobs_set(),
            storage: RedisStorage::new(connection.clone()).with_config(config),
            connection,
        })
    }

    pub async fn submit(&self, jobs: Vec<Job>) -> anyhow::Result<()> {
        Ok(self.storage.clone().push_bulk(jobs).await?)
    }

    pub fn work(&self, number: usize, runs: Arc<Runs>) -> Working {
        working!(number, self.batch, runs, self.storage.clone().poll_with_interval(PAUSE))
    }

    pub async fn done(&self) -> anyhow::Result<i64> {
        let mut connection = self.connection.clone();
        Ok(redis::cmd("SCARD").arg(&self.done).query_async(&mut connection).await?)
    }
}
