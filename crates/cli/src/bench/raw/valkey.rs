//! A list of Valkey: push, move, acknowledge, pipelined.

use redis::aio::MultiplexedConnection;

use super::Queue;
use crate::bench::valkey::connection;

/// The list that is pushed to.
const QUEUE: &str = "ff-bench:raw";

#[derive(Clone)]
pub(in crate::bench) struct List(MultiplexedConnection);

impl List {
    pub(super) async fn open(url: &str) -> anyhow::Result<Self> {
        Ok(Self(connection(url).await?))
    }
}

impl Queue for List {
    async fn push(&self, payloads: Vec<Vec<u8>>) -> anyhow::Result<()> {
        let mut pipeline = redis::pipe();
        for payload in payloads {
            pipeline.cmd("RPUSH").arg(QUEUE).arg(payload).ignore();
        }
        Ok(pipeline.query_async(&mut self.0.clone()).await?)
    }

    async fn take(&self, worker: usize, batch: usize) -> anyhow::Result<Vec<Vec<u8>>> {
        let (mut connection, own) = (self.0.clone(), format!("{QUEUE}:{worker}"));
        let mut moves = redis::pipe();
        for _ in 0..batch {
            moves.cmd("LMOVE").arg(QUEUE).arg(&own).arg("LEFT").arg("RIGHT");
        }
        let moved: Vec<Option<Vec<u8>>> = moves.query_async(&mut connection).await?;
        let moved: Vec<Vec<u8>> = moved.into_iter().flatten().collect();
        if moved.is_empty() {
            return Ok(moved);
        }
        let mut acknowledge = redis::pipe();
        for _ in &moved {
            acknowledge.cmd("LPOP").arg(&own).ignore();
        }
        acknowledge.query_async::<()>(&mut connection).await?;
        Ok(moved)
    }
}
