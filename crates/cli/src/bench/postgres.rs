//! A PostgreSQL server, and what it tells about itself.

use std::time::{Duration, Instant};

use tokio_postgres::config::TargetSessionAttrs;
use tokio_postgres::{Client, Config, NoTls};

use super::process::{family_cpu, parent_of};

/// A connection of its own beside those of the store.
pub(super) struct Postgres {
    url: String,
    client: Client,
    /// The process all others of the server are children of, if it is on this machine.
    postmaster: Option<u32>,
}

/// What the server has written so far.
#[derive(Clone, Copy)]
pub(super) struct Written {
    pub(super) wal_bytes: u64,
    /// Rows of executions that were changed, and those of them that were changed in place. Its processes tell about once a second, so
    /// that the newest are missing.
    updates: u64,
    hot_updates: u64,
}

impl Written {
    pub(super) fn since(self, before: Written) -> Written {
        Written {
            wal_bytes: self.wal_bytes.saturating_sub(before.wal_bytes),
            updates: self.updates.saturating_sub(before.updates),
            hot_updates: self.hot_updates.saturating_sub(before.hot_updates),
        }
    }

    /// How many percent of the changes were in place, if there were any.
    pub(super) fn hot_share(&self) -> Option<f64> {
        (self.updates > 0).then(|| 100.0 * self.hot_updates as f64 / self.updates as f64)
    }
}

/// A table, as it is at some moment.
pub(super) struct Table {
    pub(super) name: String,
    pub(super) dead_rows: u64,
    /// With its indexes and what is kept out of line.
    pub(super) bytes: u64,
}

/// A connection to the server that takes writes, without TLS.
pub(super) async fn connect(url: &str, options: &str) -> anyhow::Result<Client> {
    let mut config: Config = url.parse()?;
    config
        .options(options)
        .target_session_attrs(TargetSessionAttrs::ReadWrite);
    let (client, connection) = config.connect(NoTls).await?;
    // Whoever asks next is told that it has ended.
    tokio::spawn(connection);
    Ok(client)
}

impl Postgres {
    pub(super) async fn connect(url: &str) -> anyhow::Result<Self> {
        let client = connect(url, "").await?;
        let row = client
            .query_one(
                "SELECT pg_backend_pid(), inet_client_addr() IS NOT DISTINCT FROM inet_server_addr()",
                &[],
            )
            .await?;
        let (process, is_here): (i32, bool) = (row.try_get(0)?, row.try_get(1)?);
        Ok(Self {
            url: url.to_owned(),
            client,
            postmaster: parent_of(process.unsigned_abs(), "postgres").filter(|_| is_here),
        })
    }

    /// How long it takes to answer who asks for nothing.
    pub(super) async fn ping(&self) -> anyhow::Result<Duration> {
        let asked = Instant::now();
        self.client.simple_query("").await?;
        Ok(asked.elapsed())
    }

    /// CPU time of all its processes.
    pub(super) fn cpu(&self) -> Option<Duration> {
        family_cpu(self.postmaster?)
    }

    pub(super) async fn written(&self) -> anyhow::Result<Written> {
        let row = self
            .client
            .query_one(
                "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint, n_tup_upd, n_tup_hot_upd \
                 FROM pg_stat_user_tables WHERE schemaname = current_schema() AND relname = 'execution'",
                &[],
            )
            .await?;
        let number = |column: usize| row.try_get(column).map(i64::unsigned_abs);
        Ok(Written {
            wal_bytes: number(0)?,
            updates: number(1)?,
            hot_updates: number(2)?,
        })
    }

    /// Bytes of the database, with its indexes.
    pub(super) async fn stored_bytes(&self) -> anyhow::Result<u64> {
        self.count("SELECT pg_database_size(current_database())").await
    }

    /// Connections that clients have to it.
    pub(super) async fn connections(&self) -> anyhow::Result<u64> {
        self.count("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'")
            .await
    }

    async fn count(&self, query: &str) -> anyhow::Result<u64> {
        let row = self.client.query_one(query, &[]).await?;
        Ok(row.try_get::<_, i64>(0)?.unsigned_abs())
    }

    /// All tables of the store.
    pub(super) async fn tables(&self) -> anyhow::Result<Vec<Table>> {
        let rows = self
            .client
            .query(
                "SELECT relname::text, n_dead_tup, pg_total_relation_size(relid) \
                 FROM pg_stat_user_tables WHERE schemaname = current_schema()",
                &[],
            )
            .await?;
        let table = |row: tokio_postgres::Row| {
            Ok(Table {
                name: row.try_get(0)?,
                dead_rows: row.try_get::<_, i64>(1)?.unsigned_abs(),
                bytes: row.try_get::<_, i64>(2)?.unsigned_abs(),
            })
        };
        rows.into_iter().map(table).collect()
    }

    /// A transaction that sees everything as it is now until it is dropped: nothing that is deleted from now on can be cleaned up.
    pub(super) async fn snapshot(&self) -> anyhow::Result<Client> {
        let client = connect(&self.url, "").await?;
        client
            .batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM execution LIMIT 1")
            .await?;
        Ok(client)
    }
}
