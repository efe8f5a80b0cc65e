//! A server over a store that outlives it, always at the same port.

use std::process::Command;

use ff_postgres_server::Server;
use ff_valkey_server::{Options, Port, Standalone};
use tempfile::TempDir;
use tokio::task::block_in_place;

use crate::ff;
use crate::running::Running;

/// Where everything is kept.
pub(crate) enum Store {
    Sqlite,
    Valkey(Standalone),
    /// A server, and a database in it.
    Postgres(Server, String),
    /// A database that somebody else keeps.
    At(String),
}

impl Store {
    /// A Valkey server of its own.
    pub(crate) async fn valkey() -> Self {
        Self::Valkey(Standalone::start(Options::default()).await)
    }

    /// A database on a PostgreSQL server of its own, which forces commits to disk: others are refused.
    pub(crate) async fn postgres() -> Self {
        let server = Server::start(ff_postgres_server::Options::default().fsync(true)).await;
        let database = server.create_database().await;
        Self::Postgres(server, database)
    }
}

/// A store, and where its servers listen.
pub(crate) struct Place {
    store: Store,
    pub(crate) folder: TempDir,
    port: Port,
}

impl Place {
    pub(crate) fn of(store: Store) -> Self {
        Self {
            store,
            folder: tempfile::tempdir().unwrap(),
            port: Port::take(),
        }
    }

    /// From now on servers are started on this store.
    pub(crate) fn keep_in(&mut self, store: Store) {
        self.store = store;
    }

    /// Where a server is reached, as soon as one is started.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port.number())
    }

    /// Starts a server on what others left in the store.
    pub(crate) fn serve(&self) -> Running {
        let mut command = ff(self.folder.path());
        let listen = format!("127.0.0.1:{}", self.port.number());
        // Every call is a line otherwise.
        command.env("FF_LOG", "warn");
        command.args(["serve", "--listen", &listen, "--store"]);
        block_in_place(|| Running::start(self.of_store(&mut command)))
    }

    fn of_store<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        match &self.store {
            Store::Sqlite => command.arg("sqlite:ff.db"),
            Store::At(address) => command.arg(address),
            Store::Valkey(server) => command.arg(format!("valkey://127.0.0.1:{}", server.port())),
            Store::Postgres(server, database) => command.arg(server.url(database)),
        }
    }
}
