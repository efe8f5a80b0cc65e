//! A Valkey server, and what it tells about itself.

use anyhow::Context;
use redis::aio::MultiplexedConnection;

/// What it tells about itself.
pub(super) struct Info(String);

impl Info {
    pub(super) async fn read(mut connection: MultiplexedConnection) -> anyhow::Result<Self> {
        let mut info = redis::cmd("INFO");
        Ok(Self(info.arg("cpu").arg("stats").query_async(&mut connection).await?))
    }

    pub(super) fn number(&self, name: &str) -> f64 {
        let lines = self.0.lines().filter_map(|line| line.split_once(':'));
        let mut values = lines.filter(|(found, _)| *found == name).map(|(_, value)| value);
        values.next().and_then(|value| value.trim().parse().ok()).unwrap_or(0.0)
    }
}

/// A connection of its own to the first node.
pub(super) async fn connection(urls: &[String]) -> anyhow::Result<MultiplexedConnection> {
    let url = urls.first().context("no address was given")?;
    let url = url.replacen("valkey", "redis", 1);
    Ok(redis::Client::open(url)?.get_multiplexed_async_connection().await?)
}
