//! The embedded default store of FlowFabric: one SQLite file in write-ahead mode, readable with the `sqlite3` shell.
//!
//! One thread writes. It takes every call that waits, runs them in one transaction and acknowledges after the sync, so that
//! concurrent callers share it. Reads have connections of their own and never wait for the writer. The rules are those of
//! [`ff_core::machine`], called inside the open transaction; this crate only stores and finds.

mod backend;
mod backup;
mod batch;
mod checkpoint;
mod clock;
mod column;
mod commit;
mod database;
mod due;
mod entry;
mod error;
mod execution;
mod frames;
mod history;
mod ledger;
mod list;
mod load;
mod lock;
mod maintenance;
mod migrate;
mod open;
mod options;
mod queues;
mod reader;
mod record;
mod reserve;
mod settings;
mod shared;
mod sql;
mod thread;
mod writer;

pub use backend::SqliteBackend;
pub use backup::copy_store;
pub use error::{OpenError, Problem};
pub use options::{Durability, Options};
pub use shared::WriterStats;
