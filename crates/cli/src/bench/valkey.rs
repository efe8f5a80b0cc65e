//! A Valkey server, and what it tells about itself.

use anyhow::Context;
use futures::future::try_join_all;
use redis::aio::MultiplexedConnection;

/// What it tells about itself.
pub(super) struct Info(String);

impl Info {
    pub(super) async fn read(mut connection: MultiplexedConnection) -> anyhow::Result<Self> {
        let mut info = redis::cmd("INFO");
        for section in ["cpu", "stats", "memory", "clients"] {
            info.arg(section);
        }
        Ok(Self(info.query_async(&mut connection).await?))
    }

    /// A number of all nodes together.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
    pub(super) async fn sum(nodes: &[MultiplexedConnection], name: &str) -> anyhow::Result<u64> {
        let mut sum = 0.0;
        for node in nodes {
            sum += Self::read(node.clone()).await?.number(name);
        }
        Ok(sum as u64)
    }

    pub(super) fn number(&self, name: &str) -> f64 {
        let lines = self.0.lines().filter_map(|line| line.split_once(':'));
        let mut values = lines.filter(|(found, _)| *found == name).map(|(_, value)| value);
        values.next().and_then(|value| value.trim().parse().ok()).unwrap_or(0.0)
    }
}

/// A connection of its own to each node that is named.
pub(super) async fn connections(urls: &[String]) -> anyhow::Result<Vec<MultiplexedConnection>> {
    try_join_all(urls.iter().map(|url| connection(url))).await
}

/// A connection of its own to a node.
pub(super) async fn connection(url: &str) -> anyhow::Result<MultiplexedConnection> {
    let (_, place) = url.split_once("://").context("an address begins with valkey://")?;
    let scheme = if url.starts_with("valkeys") || url.starts_with("rediss") {
        "rediss"
    } else {
        "redis"
    };
    let client = redis::Client::open(format!("{scheme}://{place}"))?;
    Ok(client.get_multiplexed_async_connection().await?)
}
