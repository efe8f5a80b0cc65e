//! FlowFabric on PostgreSQL: any number of servers on one database.
//!
//! Every call is one statement that runs a function of the library (`library/`), which locks, compares and writes inside the store:
//! no lock ever waits for this process. The rules are those of [`ff_core::machine`]; a claim is kept beside the body of its
//! execution, and whoever reads both applies the rule to them.

mod backend;
mod call;
mod commit;
mod due;
mod error;
mod floors;
mod frames;
mod hints;
mod ledger;
mod library;
mod list;
mod load;
mod maintenance;
mod open;
mod options;
mod queues;
mod reserve;
mod rows;
mod settings;
mod shared;

pub use backend::PostgresBackend;
pub use error::OpenError;
pub use library::library_name;
pub use open::migrate;
pub use options::{CONNECTIONS_MAX, Options};
