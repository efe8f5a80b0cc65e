//! Two servers, one of which follows the other.

use std::time::Instant;

use ff_postgres_server::{Replication, Server};

use super::Site;

/// A primary and its standby, which take turns.
pub(super) struct Pair {
    servers: [Server; 2],
    database: String,
    /// Which of them takes writes.
    primary: usize,
    replication: Replication,
}

impl Pair {
    pub(super) async fn start(replication: Replication) -> Self {
        let Site { server, database } = Site::start().await;
        let standby = server.standby(replication).await;
        Self {
            servers: [server, standby],
            database,
            primary: 0,
            replication,
        }
    }

    /// Both hosts: whoever connects finds the one that takes writes.
    pub(super) fn url(&self) -> String {
        let [one, other] = self.servers.each_ref().map(Server::port);
        format!("postgres://ff@127.0.0.1:{one},127.0.0.1:{other}/{}", self.database)
    }

    /// What is committed from now on, the standby does not hear.
    pub(super) async fn part(&self) {
        self.standby().pause();
        let sender = "SELECT pg_terminate_backend(pid) FROM pg_stat_replication";
        assert_eq!(self.primary().ask(&self.database, sender).await, "t");
    }

    /// The primary dies.
    pub(super) fn kill(&self) {
        self.primary().kill();
    }

    /// The standby takes the place of the primary.
    pub(super) async fn fail_over(&mut self) {
        let began = Instant::now();
        self.standby().resume();
        self.standby().promote().await;
        self.primary = 1 - self.primary;
        eprintln!("the standby took over in {:?}", began.elapsed());
    }

    /// The one that died follows the one that took its place.
    pub(super) async fn mend(&self) {
        self.standby().follow(self.primary(), self.replication).await;
    }

    fn primary(&self) -> &Server {
        &self.servers[self.primary]
    }

    fn standby(&self) -> &Server {
        &self.servers[1 - self.primary]
    }
}
