//! One node of a cluster, connected when it is first needed and again when the connection broke.

use std::time::Instant;

use redis::aio::{ConnectionLike as _, MultiplexedConnection};
use redis::{Cmd, ConnectionInfo, ErrorKind, RedisResult, Value};
use tokio::sync::Mutex;

use super::not_sent;
use crate::client::{accepted, connect};

/// One node.
pub(super) struct Node {
    address: ConnectionInfo,
    link: Mutex<Link>,
}

/// The connection to a node. It carries many commands at a time.
#[derive(Default)]
struct Link {
    connection: Option<MultiplexedConnection>,
    /// Counts the connections: whoever finds one broken gives up that one only.
    number: u64,
    /// When connecting last failed, and why.
    failure: Option<(Instant, String)>,
}

impl Node {
    pub(super) fn new(address: ConnectionInfo) -> Self {
        Self {
            address,
            link: Mutex::default(),
        }
    }

    /// Sends a command once.
    pub(super) async fn run(&self, command: &Cmd) -> RedisResult<Value> {
        let (mut connection, number) = self.connection().await?;
        let reply = connection.req_packed_command(command).await.and_then(accepted);
        if let Err(error) = &reply
            && (error.is_unrecoverable_error() || error.is_timeout())
        {
            self.give_up(number).await;
        }
        reply
    }

    async fn connection(&self) -> RedisResult<(MultiplexedConnection, u64)> {
        let began_at = Instant::now();
        let mut link = self.link.lock().await;
        if let Some(connection) = &link.connection {
            return Ok((connection.clone(), link.number));
        }
        // Whoever waited while somebody else failed has failed too.
        if let Some((_, why)) = link.failure.as_ref().filter(|(at, _)| *at >= began_at) {
            return Err(not_sent(why.clone()));
        }
        match connect(&self.address).await {
            Ok(connection) => {
                link.number += 1;
                link.connection = Some(connection.clone());
                Ok((connection, link.number))
            }
            Err(error) if error.kind() == ErrorKind::Io => {
                link.failure = Some((Instant::now(), error.to_string()));
                Err(not_sent(error.to_string()))
            }
            Err(error) => Err(error),
        }
    }

    async fn give_up(&self, number: u64) {
        let mut link = self.link.lock().await;
        if link.number == number {
            link.connection = None;
        }
    }
}
