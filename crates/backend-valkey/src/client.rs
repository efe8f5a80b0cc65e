//! The connections: one that carries every command to a node, many at a time; hints have another one.

use std::time::Duration;

use redis::aio::{ConnectionLike as _, ConnectionManager, ConnectionManagerConfig, MultiplexedConnection};
use redis::{AsyncConnectionConfig, Cmd, ConnectionInfo, RedisResult, Value};

use crate::cluster::{Cluster, slot_of};
use crate::open::Addresses;

/// How long a reply may take. A server that is busy for longer is treated as gone, and the outcome as unknown.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(10);
/// How long connecting may take.
pub(crate) const CONNECTION_TIMEOUT: Duration = Duration::from_secs(2);
/// Reconnecting begins and ends with these pauses.
const RECONNECT_PAUSES: (Duration, Duration) = (Duration::from_millis(10), Duration::from_secs(1));

/// Which servers of a cluster. A server by itself is all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nodes {
    All,
    Primaries,
}

/// Whoever answers commands.
#[derive(Clone)]
pub(crate) enum Client {
    Standalone(ConnectionManager),
    Cluster(Cluster),
}

impl Client {
    /// Connects to one server.
    pub(crate) async fn standalone(address: &ConnectionInfo) -> RedisResult<Self> {
        let config = ConnectionManagerConfig::new()
            .set_response_timeout(Some(RESPONSE_TIMEOUT))
            .set_connection_timeout(Some(CONNECTION_TIMEOUT))
            .set_min_delay(RECONNECT_PAUSES.0)
            .set_max_delay(RECONNECT_PAUSES.1);
        let client = redis::Client::open(address.clone())?;
        Ok(Self::Standalone(
            client.get_connection_manager_with_config(config).await?,
        ))
    }

    /// Connects to a cluster some of whose nodes are named.
    pub(crate) async fn cluster(addresses: &Addresses) -> RedisResult<Self> {
        Ok(Self::Cluster(Cluster::connect(addresses).await?))
    }

    /// Runs a command where the keys with this prefix live.
    pub(crate) async fn run(&self, command: &Cmd, prefix: &str) -> RedisResult<Value> {
        match self {
            Self::Standalone(connection) => accepted(connection.clone().req_packed_command(command).await?),
            Self::Cluster(cluster) => cluster.run(command, slot_of(prefix)).await,
        }
    }

    /// Runs a command on many servers; answers each one's reply. One that cannot be reached at the moment is left out.
    pub(crate) async fn run_on(&self, nodes: Nodes, command: &Cmd) -> RedisResult<Vec<RedisResult<Value>>> {
        match self {
            Self::Standalone(_) => Ok(vec![self.run(command, "").await]),
            Self::Cluster(cluster) => cluster.run_on(nodes, command).await,
        }
    }

    /// Whether each partition must be asked by a call of its own.
    pub(crate) const fn is_cluster(&self) -> bool {
        matches!(self, Self::Cluster(_))
    }
}

/// Runs one command over a connection of its own, and only once: whoever is refused learns it at once.
pub(crate) async fn probe(address: &ConnectionInfo, command: &Cmd) -> RedisResult<Value> {
    accepted(connect(address).await?.req_packed_command(command).await?)
}

/// Connects to one server, and not again when the connection breaks.
pub(crate) async fn connect(address: &ConnectionInfo) -> RedisResult<MultiplexedConnection> {
    let config = AsyncConnectionConfig::new()
        .set_response_timeout(Some(RESPONSE_TIMEOUT))
        .set_connection_timeout(Some(CONNECTION_TIMEOUT));
    let client = redis::Client::open(address.clone())?;
    client.get_multiplexed_async_connection_with_config(&config).await
}

/// A connection takes a refusal of the server for a reply like any other. No reply of ours has one inside.
pub(crate) fn accepted(reply: Value) -> RedisResult<Value> {
    match reply {
        refusal @ Value::ServerError(_) => refusal.extract_error(),
        reply => Ok(reply),
    }
}
