//! FlowFabric on Valkey 7.2 or newer (Redis 7.2 behaves alike), standalone, with replicas, or in cluster mode.
//!
//! Everything that must be atomic is a function of one Lua library (`lua/`), which stores, counts and finds but decides nothing.
//! `docs/how-to/valkey.md` says what an operator sees with `HGETALL`, `ZRANGE` and `XRANGE`.

mod backend;
mod call;
mod client;
mod cluster;
mod commit;
mod due;
mod error;
mod frames;
mod hints;
mod keys;
mod ledger;
mod library;
mod list;
mod load;
mod open;
mod options;
mod pack;
mod record;
mod reply;
mod reserve;
mod settings;
mod shared;
mod sweep;
mod watch;

pub use backend::ValkeyBackend;
pub use error::OpenError;
pub use options::Options;
