//! The embedded default store of FlowFabric: one SQLite file in write-ahead mode, readable with the `sqlite3` shell.
//!
//! One thread writes. It takes every call that waits and runs them in one transaction; another syncs and acknowledges, so that
//! concurrent callers share a sync and the next batch is under way meanwhile. Reads have connections of their own, and wait for
//! the sync of what they may have seen, never for the writer. The rules are those of
//! [`ff_core::machine`], called inside the open transaction; this crate only stores and finds.

mod backend;
mod backup;
mod batch;
mod checkpoint;
mod clock;
mod column;
mod commit;
mod counters;
mod database;
mod due;
mod entry;
mod error;
mod execution;
mod frames;
mod fresh;
mod history;
mod ledger;
mod list;
mod load;
mod lock;
mod log;
mod maintenance;
mod migrate;
mod open;
mod options;
mod prepared;
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
