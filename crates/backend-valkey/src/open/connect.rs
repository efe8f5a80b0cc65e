//! Connecting to servers that can be used.

use redis::{ConnectionInfo, RedisResult};

use super::address::Addresses;
use super::obstacle::Obstacle;
use super::server::{Server, check};
use crate::client::{Client, Nodes, probe};
use crate::error::OpenError;

/// Connects to the first server that answers, or to the cluster it belongs to.
pub(super) async fn connect(addresses: &Addresses) -> Result<Client, Obstacle> {
    let (address, server) = find(addresses).await?;
    if !server.is_cluster {
        check(&[server])?;
        return Ok(Client::standalone(address).await?);
    }
    if addresses.database() != 0 {
        let reason = "a cluster has no databases: leave the number out".to_owned();
        return Err(Obstacle::Lasting(OpenError::Address(reason)));
    }
    let client = Client::cluster(addresses).await?;
    let answers = client.run_on(Nodes::All, &redis::cmd("INFO")).await?;
    let answers: Vec<_> = answers.into_iter().collect::<RedisResult<_>>()?;
    let servers: Vec<Server> = answers.iter().map(Server::parse).collect::<Result<_, _>>()?;
    check(&servers)?;
    Ok(client)
}

/// The first server that answers and takes writes.
async fn find(addresses: &Addresses) -> Result<(&ConnectionInfo, Server), Obstacle> {
    let mut met = Obstacle::Passing(OpenError::Unreachable("there is no address".to_owned()));
    for address in addresses.iter() {
        met = match ask(address).await {
            Ok(server) if server.is_cluster || !server.is_replica => return Ok((address, server)),
            Ok(_) => Obstacle::Passing(OpenError::Unreachable(format!("{} is a replica", address.addr()))),
            Err(Obstacle::Passing(OpenError::Unreachable(reason))) => {
                Obstacle::Passing(OpenError::Unreachable(format!("{}: {reason}", address.addr())))
            }
            Err(obstacle) => return Err(obstacle),
        };
    }
    Err(met)
}

async fn ask(address: &ConnectionInfo) -> Result<Server, Obstacle> {
    Server::parse(&probe(address, &redis::cmd("INFO")).await?)
}
