//! Copies of a server that follow it and can take its place.

use std::fs::OpenOptions;
use std::io::Write;

use crate::connection::{FIRST_DATABASE, USER};
use crate::server::Server;
use crate::until::until;

/// What a primary waits for before it answers a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replication {
    /// Nothing: what was committed last may be missing on a promoted standby.
    Asynchronous,
    /// One standby, whichever: without any, commits are not answered.
    Synchronous,
}

impl Server {
    /// Starts a server that follows this one, set up like it, and waits until it does. Until it is promoted it answers
    /// questions and refuses to write.
    ///
    /// # Panics
    ///
    /// When it does not start.
    pub async fn standby(&self, replication: Replication) -> Server {
        let standby = Server::start_after(Some(self), self.options()).await;
        self.wait_for(&standby, replication).await;
        standby
    }

    /// Throws away what this server has, and makes it a standby of another one, which has taken its place; on the same port.
    /// Waits until it follows.
    ///
    /// # Panics
    ///
    /// When it does not start.
    pub async fn follow(&self, primary: &Server, replication: Replication) {
        self.kill();
        self.directory().clear();
        self.copy(primary).await;
        self.restart().await;
        primary.wait_for(self, replication).await;
    }

    /// Makes a standby a primary and waits until it writes. Nobody tells the former primary.
    ///
    /// # Panics
    ///
    /// When it is no standby or cannot be reached.
    pub async fn promote(&self) {
        let promoted = self.ask(FIRST_DATABASE, "SELECT pg_promote(true, 20)").await;
        assert_eq!(promoted, "t", "the standby at port {} is still no primary", self.port());
    }

    /// Fills in what the primary has, and that this server follows it.
    pub(crate) async fn copy(&self, primary: &Server) {
        let name = self.follower_name();
        let address = format!(
            "host=127.0.0.1 port={} user={USER} application_name={name}",
            primary.port()
        );
        let source = ["--dbname", &address, "--checkpoint=fast"];
        // The slot keeps what the standby has not seen yet, however long it is paused.
        let follow = ["--write-recovery-conf", "--create-slot", "--slot", &name];
        self.directory()
            .fill("pg_basebackup", &[&source[..], &follow, &["--no-sync"]].concat())
            .await;
        self.forget_own_standbys();
    }

    /// A standby of a synchronous primary would otherwise, once promoted, wait for a standby that it does not have.
    fn forget_own_standbys(&self) {
        let settings = self.directory().data().join("postgresql.auto.conf");
        let file = OpenOptions::new().append(true).open(settings);
        let written = file.and_then(|mut file| writeln!(file, "synchronous_standby_names = ''"));
        written.expect("could not change the settings of a standby");
    }

    /// Waits until a standby follows as it should.
    async fn wait_for(&self, standby: &Server, replication: Replication) {
        if replication == Replication::Synchronous {
            self.set("synchronous_standby_names", "*").await;
        }
        until("a standby follows", || self.is_followed_by(standby, replication)).await;
    }

    async fn is_followed_by(&self, standby: &Server, replication: Replication) -> Result<(), String> {
        let name = standby.follower_name();
        let question = format!("SELECT state, sync_state FROM pg_stat_replication WHERE application_name = '{name}'");
        let states = self.try_ask(FIRST_DATABASE, &question).await?;
        let follows = match replication {
            Replication::Asynchronous => states.starts_with("streaming|"),
            // The second of two is a potential one.
            Replication::Synchronous => states == "streaming|sync" || states == "streaming|potential",
        };
        if follows {
            Ok(())
        } else {
            Err(format!("its primary says {states:?}"))
        }
    }

    fn follower_name(&self) -> String {
        format!("standby_{}", self.port())
    }
}
