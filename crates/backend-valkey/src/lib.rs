//! FlowFabric on Valkey 7.2 or newer (Redis 7.2 behaves alike), standalone, with replicas, or in cluster mode.
//!
//! Everything that must be atomic is a function of one Lua library (`lua/`), which stores and finds but decides nothing, with
//! one exception: usage reports and admissions meet at one budget or quota so often that its rules for them stand there too.
//! `docs/valkey.md` says what an operator sees with `HGETALL`, `ZRANGE` and `XRANGE`.

mod backend;
mod budget;
mod call;
mod client;
mod cluster;
mod commit;
mod due;
mod error;
mod frames;
mod hints;
mod keys;
mod library;
mod limit;
mod list;
mod load;
mod open;
mod options;
mod pack;
mod quota;
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
