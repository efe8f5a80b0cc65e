//! The connections: one that carries every command to a node, many at a time; hints have another one.

use std::time::Duration;

use redis::aio::{ConnectionLike, ConnectionManager, ConnectionManagerConfig};
use redis::cluster::ClusterClientBuilder;
use redis::cluster_async::ClusterConnection;
use redis::cluster_routing::{MultipleNodeRoutingInfo, ResponsePolicy, RoutingInfo};
use redis::{AsyncConnectionConfig, Cmd, ConnectionInfo, RedisResult, Value};

use crate::open::{Addresses, tcp_settings};

/// How long a reply may take. A server that is busy for longer is treated as gone, and the outcome as unknown.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(10);
/// How long connecting may take.
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(2);
/// How often the cluster client follows a redirection or reconnects before it reports a failure.
const CLUSTER_RETRIES: u32 = 4;
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
    Cluster(ClusterConnection),
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
        let client = ClusterClientBuilder::new(addresses.iter().cloned())
            .tcp_settings(tcp_settings())
            .retries(CLUSTER_RETRIES)
            .min_retry_wait(10)
            .max_retry_wait(500)
            .response_timeout(RESPONSE_TIMEOUT)
            .connection_timeout(CONNECTION_TIMEOUT)
            .build()?;
        Ok(Self::Cluster(client.get_async_connection().await?))
    }

    /// Runs a command where its key lives.
    pub(crate) async fn run(&self, command: &Cmd) -> RedisResult<Value> {
        let reply = match self {
            Self::Standalone(connection) => connection.clone().req_packed_command(command).await?,
            Self::Cluster(connection) => connection.clone().req_packed_command(command).await?,
        };
        accepted(reply)
    }

    /// Runs a command on many servers; answers each one's reply. One that cannot be reached at the moment is left out.
    pub(crate) async fn run_on(&self, nodes: Nodes, command: Cmd) -> RedisResult<Vec<RedisResult<Value>>> {
        let Self::Cluster(connection) = self else {
            return Ok(vec![self.run(&command).await]);
        };
        let nodes = match nodes {
            Nodes::All => MultipleNodeRoutingInfo::AllNodes,
            Nodes::Primaries => MultipleNodeRoutingInfo::AllMasters,
        };
        let routing = RoutingInfo::MultiNode((nodes, None::<ResponsePolicy>));
        let replies = connection.clone().route_command(command, routing).await?;
        Ok(match replies {
            Value::Map(replies) => replies.into_iter().map(|(_, reply)| accepted(reply)).collect(),
            other => vec![accepted(other)],
        })
    }

    /// Whether each partition must be asked by a call of its own.
    pub(crate) const fn is_cluster(&self) -> bool {
        matches!(self, Self::Cluster(_))
    }
}

/// Runs one command over a connection of its own, and only once: whoever is refused learns it at once.
pub(crate) async fn probe(address: &ConnectionInfo, command: &Cmd) -> RedisResult<Value> {
    let config = AsyncConnectionConfig::new()
        .set_response_timeout(Some(RESPONSE_TIMEOUT))
        .set_connection_timeout(Some(CONNECTION_TIMEOUT));
    let client = redis::Client::open(address.clone())?;
    let mut connection = client.get_multiplexed_async_connection_with_config(&config).await?;
    accepted(connection.req_packed_command(command).await?)
}

/// A connection takes a refusal of the server for a reply like any other. No reply of ours has one inside.
fn accepted(reply: Value) -> RedisResult<Value> {
    match reply {
        refusal @ Value::ServerError(_) => refusal.extract_error(),
        reply => Ok(reply),
    }
}
