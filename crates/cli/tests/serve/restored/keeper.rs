//! Stores that are copied while they are in use, and made again from the copy, as an operator does it.

use std::path::Path;
use std::process::{Command, Output};

use ff_postgres_server::{Options, Server, programs};
use tokio::task::block_in_place;

use crate::ff;
use crate::served::Store;

/// The copy, beside the store or where `ff` is run.
const COPY: &str = "copy";
/// A SQLite store, and the one that is made from its copy.
const FILE: &str = "sqlite:ff.db";
const RESTORED_FILE: &str = "sqlite:restored/ff.db";
/// A database every server has.
const MAINTENANCE: &str = "postgres";
/// How `ff` ends that did nothing but name another tool.
const REFERRED: i32 = 3;

/// Who copies a store, and makes it again.
pub(crate) enum Keeper {
    /// `ff` itself.
    Sqlite,
    /// The tools that `ff` names.
    Postgres {
        server: Server,
        database: String,
        target: Target,
    },
}

/// Where a PostgreSQL store is restored to.
#[derive(Clone, Copy)]
pub(crate) enum Target {
    /// An empty database beside the one it was copied from.
    Fresh,
    /// An empty database of another server; the first one is gone.
    Elsewhere,
    /// An empty database with the name of the one it was copied from, which is dropped.
    Itself,
}

impl Keeper {
    /// A PostgreSQL server of its own, which forces commits to disk: others are refused.
    pub(crate) async fn postgres(target: Target) -> Self {
        let server = durable().await;
        let database = server.create_database().await;
        Self::Postgres {
            server,
            database,
            target,
        }
    }

    /// The store that is copied.
    pub(crate) fn store(&self) -> Store {
        match self {
            Self::Sqlite => Store::At(FILE.to_owned()),
            Self::Postgres { server, database, .. } => Store::At(server.url(database)),
        }
    }

    /// Copies the store while others use it.
    pub(crate) fn copy(&self, folder: &Path) {
        match self {
            Self::Sqlite => succeeds(ff(folder).args(["backup", COPY, "--store", FILE])),
            Self::Postgres { server, database, .. } => by_another_tool(folder, "backup", &server.url(database)),
        }
    }

    /// Whether the events of before are kept.
    pub(crate) fn keeps_events(&self) -> bool {
        match self {
            Self::Sqlite => true,
            Self::Postgres { target, .. } => !matches!(target, Target::Elsewhere),
        }
    }

    /// Makes the store anew from its copy, while nobody uses it.
    pub(crate) async fn restore(&mut self, folder: &Path) -> Store {
        match self {
            Self::Sqlite => {
                succeeds(ff(folder).args(["restore", COPY, "--store", RESTORED_FILE]));
                Store::At(RESTORED_FILE.to_owned())
            }
            Self::Postgres {
                server,
                database,
                target,
            } => {
                match target {
                    Target::Fresh => *database = server.create_database().await,
                    Target::Elsewhere => {
                        *server = durable().await;
                        *database = server.create_database().await;
                    }
                    Target::Itself => {
                        server
                            .ask(MAINTENANCE, &format!("DROP DATABASE {database} WITH (FORCE)"))
                            .await;
                        server.ask(MAINTENANCE, &format!("CREATE DATABASE {database}")).await;
                    }
                }
                let url = server.url(database);
                by_another_tool(folder, "restore", &url);
                Store::At(url)
            }
        }
    }
}

async fn durable() -> Server {
    Server::start(Options::default().fsync(true)).await
}

/// Runs the command that `ff` prints.
fn by_another_tool(folder: &Path, verb: &str, url: &str) {
    let referred = output(ff(folder).args([verb, COPY, "--store", url]));
    assert_eq!(referred.status.code(), Some(REFERRED), "{}", told(&referred));
    let command = String::from_utf8(referred.stdout).unwrap();
    let mut words = command.split_whitespace();
    let program = programs().join(words.next().unwrap());
    let (_, after_scheme) = url.split_once("://").unwrap();
    let (user, _) = after_scheme.split_once('@').unwrap();
    succeeds(
        Command::new(program)
            .args(words)
            .current_dir(folder)
            .env("PGUSER", user),
    );
}

fn succeeds(command: &mut Command) {
    let ended = output(command);
    assert!(ended.status.success(), "{command:?}: {}", told(&ended));
}

fn output(command: &mut Command) -> Output {
    block_in_place(|| command.output()).unwrap()
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}
