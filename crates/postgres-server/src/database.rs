//! A database of a test's own.

use crate::connection::{self, FIRST_DATABASE, ask_blocking};
use crate::shared::Shared;
use crate::until::until;

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

    /// Makes a database like the one that `prepare` made of an empty one, which happens once for all tests. The name of the model says
    /// what is in it: letters, digits and underscores.
    ///
    /// # Panics
    ///
    /// When there is no server to be had.
    pub async fn like<F: Future<Output = ()>>(model: &str, prepare: impl FnOnce(String) -> F) -> Database {
        let port = Shared::joined().await.port();
        if !exists(port, model).await {
            let draft = Database::fresh().await;
            prepare(draft.url()).await;
            let rename = format!("ALTER DATABASE {} RENAME TO {model}", draft.name);
            // Whoever prepared it may still be leaving. Of two who make the same model one renames, and the other's goes.
            until("a model could not be named", async || {
                let renamed = connection::ask(port, FIRST_DATABASE, &rename).await;
                if exists(port, model).await {
                    Ok(())
                } else {
                    renamed.map(drop)
                }
            })
            .await;
        }
        let name = connection::new_name(port);
        let copy = format!("CREATE DATABASE {name} TEMPLATE {model}");
        until("a model could not be copied", async || {
            connection::ask(port, FIRST_DATABASE, &copy).await.map(drop)
        })
        .await;
        Database { name, port }
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

async fn exists(port: u16, name: &str) -> bool {
    let asked = format!("SELECT count(*) FROM pg_database WHERE datname = '{name}'");
    connection::ask(port, FIRST_DATABASE, &asked).await.as_deref() == Ok("1")
}

impl Drop for Database {
    fn drop(&mut self) {
        // By force, as the test's connections may still be open. What cannot be removed now goes with the server.
        let _ = ask_blocking(
            self.port,
            FIRST_DATABASE,
            &format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name),
        );
    }
}
