//! A database of a test's own.

use crate::connection::{self, FIRST_DATABASE, ask_blocking};
use crate::shared::Shared;

/// An empty database on the server that all tests share; dropping it removes it.
///
/// What tests do in it they do not see of each other: tables, locks, notifications. Roles, settings of the server and the
/// list of all connections are common.
pub struct Database {
    name: String,
    port: u16,
}

impl Database {
    /// Makes a database, after starting the shared server if it does not run.
    ///
    /// # Panics
    ///
    /// When there is no server to be had.
    pub async fn fresh() -> Database {
        let port = Shared::joined().await.port();
        Database {
            name: connection::create_database(port).await,
            port,
        }
    }

    /// How it is called on its server.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where clients connect to it.
    pub fn url(&self) -> String {
        connection::url(self.port, &self.name)
    }

    /// Sends SQL over a connection of its own, which must not be refused. The answer is a line for each row, with `|` between
    /// its values and nothing for NULL.
    ///
    /// # Panics
    ///
    /// When the server refuses it or cannot be reached.
    pub async fn ask(&self, sql: &str) -> String {
        let answer = connection::ask(self.port, &self.name, sql).await;
        answer.unwrap_or_else(|reason| panic!("the shared PostgreSQL server: {sql}: {reason}"))
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // By force, as the test's connections may still be open. What cannot be removed now goes with the server.
        let _ = ask_blocking(
            self.port,
            FIRST_DATABASE,
            &format!("DROP DATABASE {} WITH (FORCE)", self.name),
        );
    }
}
