//! Real PostgreSQL servers on loopback, for tests and benchmarks: one that all tests share, and servers of a test's own that
//! it can kill, pause and copy.
//!
//! Most tests need a database and not a server:
//!
//! ```no_run
//! # async fn example() {
//! use ff_postgres_server::Database;
//!
//! let database = Database::fresh().await;
//! assert_eq!(database.ask("SELECT 1").await, "1");
//! println!("connect to {}", database.url());
//! # }
//! ```
//!
//! Tests that do something to the server start their own:
//!
//! ```no_run
//! # async fn example() {
//! use ff_postgres_server::{Options, Replication, Server};
//!
//! let primary = Server::start(Options::default()).await;
//! let name = primary.create_database().await;
//! let standby = primary.standby(Replication::Synchronous).await;
//! primary.ask(&name, "CREATE TABLE colours (name text)").await;
//! primary.kill();
//! standby.promote().await;
//! println!("connect to {}", standby.url(&name));
//! # }
//! ```
//!
//! A server takes most of a second to start, a database some hundredths, and a runner may give every test a process of its
//! own. So the first test process that wants a database starts a server and leaves it to the next ones, which find it
//! through a file in the temporary directory; the file's lock lets one process at a time look and start. Every process that
//! uses the server holds a named pipe open, which the system closes however the process ends, and a shell at the other end
//! ends the server a few seconds after the last one left. Only a test process of the same user, with the same programs and
//! the same settings, finds the server.
//!
//! A server of a test's own is killed when it is dropped, so after a panic of its test too; when the whole test process is
//! killed, a shell of the same kind ends its servers.
//!
//! PostgreSQL refuses to run as root: for root, servers run as `postgres`, or as `nobody` where there is no such user.
//!
//! Whatever cannot be set up is a panic with one sentence: a test that cannot set its scene has failed.

mod account;
mod connection;
mod database;
mod directory;
mod family;
mod guard;
mod options;
mod process;
mod programs;
mod server;
mod shared;
mod standby;
mod until;

pub use database::Database;
pub use options::Options;
pub use programs::programs;
pub use server::Server;
pub use standby::Replication;
