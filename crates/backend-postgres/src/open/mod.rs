//! Opening: connect, check the server, bring the schema up to date, install the library, listen.

mod connect;
mod schema;
mod server;

use std::sync::Arc;

use ff_backend::opening::patiently;
use tokio::sync::mpsc;

pub(crate) use self::connect::Address;
pub(crate) use self::schema::MIGRATIONS;
use crate::call::{Connections, call};
use crate::error::OpenError;
use crate::hints::{listen, tell_others};
use crate::library::LIBRARY;
use crate::maintenance::keep_tidy;
use crate::options::Options;
use crate::shared::Shared;

/// Opens the store; waits for a server that starts, recovers or fails over.
pub(crate) async fn open(options: &Options) -> Result<Arc<Shared>, OpenError> {
    let address = Address::parse(&options.url)?;
    patiently(options.patience, || start(options, &address)).await
}

/// Brings the schema of a database up to date and installs the library, as opening does too; how many migrations were applied.
pub async fn migrate(options: &Options) -> Result<usize, OpenError> {
    let address = Address::parse(&options.url)?;
    patiently(options.patience, async || {
        let mut client = address.connect().await?;
        server::check(&client, options).await?;
        schema::migrate(&mut client).await
    })
    .await
}

async fn start(options: &Options, address: &Address) -> Result<Arc<Shared>, OpenError> {
    let mut client = address.connect().await?;
    server::check(&client, options).await?;
    schema::migrate(&mut client).await?;
    let mark = schema::check_counts(&client, options.counts).await?;
    let system = server::system_identifier(&client).await?;
    let connections = Connections(address.pool(options.connections_max)?);
    let (told, to_tell) = mpsc::unbounded_channel();
    let shared = Arc::new(Shared::new(connections, options.counts, (system, mark), told));
    // Before anything is decided from one.
    shared.generation(None, 0).await?;
    let listener = address.listener().await?;
    tokio::spawn(listen(Arc::downgrade(&shared), address.clone(), listener));
    tokio::spawn(tell_others(Arc::downgrade(&shared), to_tell));
    tokio::spawn(keep_tidy(Arc::downgrade(&shared)));
    Ok(shared)
}

/// The version of the server, and the library it has been given.
pub(crate) async fn about(shared: &Shared) -> ff_backend::Result<String> {
    let version: String = shared.connections.row(call!(reading server_version())).await?.get(0)?;
    Ok(format!(
        "PostgreSQL {version}, schema {}, library {}",
        schema::version(),
        LIBRARY.schema
    ))
}
