//! A table of PostgreSQL: insert, take with SKIP LOCKED, delete, each a batch in one statement.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio_postgres::{Client, Statement};

use super::Queue;
use crate::bench::postgres::connect;

/// The plans of a table that was never analysed must not depend on chance: the store has its own set alike.
const SETTINGS: &str = "-c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c enable_bitmapscan=off";

/// Nothing is compressed, as in the store: all bytes of these payloads are the same, so that nothing would be left of them.
const CREATE: &str = "
    CREATE SCHEMA IF NOT EXISTS ff_bench;
    DROP TABLE IF EXISTS ff_bench.queue;
    CREATE TABLE ff_bench.queue (id bigserial PRIMARY KEY, payload bytea NOT NULL, state smallint NOT NULL DEFAULT 0);
    ALTER TABLE ff_bench.queue ALTER COLUMN payload SET STORAGE EXTERNAL;
    CREATE INDEX ON ff_bench.queue (id) WHERE state = 0;";

const PUSH: &str = "INSERT INTO ff_bench.queue (payload) SELECT unnest($1::bytea[])";

const TAKE: &str = "
    UPDATE ff_bench.queue SET state = 1
    WHERE id = ANY (ARRAY(
        SELECT id FROM ff_bench.queue WHERE state = 0 ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED))
    RETURNING id, payload";

const ACKNOWLEDGE: &str = "DELETE FROM ff_bench.queue WHERE id = ANY ($1)";

/// As many connections as a store has, used in turn.
#[derive(Clone)]
pub(in crate::bench) struct Table {
    connections: Arc<[Connection]>,
    uses: Arc<AtomicUsize>,
}

struct Connection {
    client: Client,
    push: Statement,
    take: Statement,
    acknowledge: Statement,
}

impl Table {
    pub(super) async fn open(url: &str) -> anyhow::Result<Self> {
        connect(url, SETTINGS).await?.batch_execute(CREATE).await?;
        let mut connections = Vec::new();
        for _ in 0..ff_backend_postgres::Options::new(url).connections_max {
            connections.push(Connection::open(url).await?);
        }
        Ok(Self {
            connections: connections.into(),
            uses: Arc::default(),
        })
    }

    fn connection(&self) -> &Connection {
        let uses = self.uses.fetch_add(1, Ordering::Relaxed);
        &self.connections[uses % self.connections.len()]
    }
}

impl Connection {
    async fn open(url: &str) -> anyhow::Result<Self> {
        let client = connect(url, SETTINGS).await?;
        Ok(Self {
            push: client.prepare(PUSH).await?,
            take: client.prepare(TAKE).await?,
            acknowledge: client.prepare(ACKNOWLEDGE).await?,
            client,
        })
    }
}

impl Queue for Table {
    async fn push(&self, payloads: Vec<Vec<u8>>) -> anyhow::Result<()> {
        let Connection { client, push, .. } = self.connection();
        client.execute(push, &[&payloads]).await?;
        Ok(())
    }

    async fn take(&self, _: usize, batch: usize) -> anyhow::Result<Vec<Vec<u8>>> {
        let Connection {
            client,
            take,
            acknowledge,
            ..
        } = self.connection();
        let rows = client.query(take, &[&i64::try_from(batch)?]).await?;
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let ids: Vec<i64> = rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
        client.execute(acknowledge, &[&ids]).await?;
        Ok(rows.iter().map(|row| row.try_get(1)).collect::<Result<_, _>>()?)
    }
}
