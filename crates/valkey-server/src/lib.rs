//! Real Valkey servers on loopback, for tests and benchmarks: alone, as a cluster, and behind a connection that fails.
//!
//! ```no_run
//! # async fn example() {
//! use ff_valkey_server::{Fsync, Options, Persistence, Standalone};
//!
//! let always = Persistence::AppendOnly { fsync: Fsync::Always };
//! let server = Standalone::start(Options::default().persistence(always)).await;
//! server.ask("SET colour green").await;
//! server.restart().await;
//! assert_eq!(server.ask("GET colour").await.text(), "green");
//! # }
//! ```
//!
//! A server lives in a temporary directory and is killed when it is dropped, so after a panic of its test too. When the whole
//! test process is killed, a guard ends its servers; only their directories stay behind.
//!
//! Whatever cannot be set up is a panic with one sentence: a test that cannot set its scene has failed.

mod binary;
mod cluster;
mod monitor;
mod options;
mod port;
mod process;
mod proxy;
mod resp;
mod server;
mod standalone;
mod until;

pub use binary::binary;
pub use cluster::{Cluster, Migration};
pub use monitor::Monitor;
pub use options::{Fsync, Options, Persistence};
pub use port::Port;
pub use proxy::Proxy;
pub use resp::{Connection, Reply};
pub use server::Server;
pub use standalone::Standalone;
