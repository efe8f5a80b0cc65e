//! FlowFabric's nouns, commands and rules.
//!
//! Everything here is pure: no I/O, no clock, no randomness; async only in the signatures of [`fabric`]. A rule takes the records it is about, a command and a
//! [`machine::Context`] (time, luck, caller), and answers with an outcome and the draft of the transaction that makes it
//! true, or with a [`error::Rejection`] that changes nothing. Start reading at [`machine`].

pub mod caller;
pub mod capability;
pub mod command;
pub mod date;
pub mod digest;
pub mod error;
pub mod fabric;
pub mod frame;
pub mod graph;
pub mod hex;
pub mod id;
pub mod keyring;
pub mod ledger;
pub mod limits;
pub mod machine;
pub mod name;
pub mod overlay;
pub mod partition;
pub mod payload;
pub mod policy;
pub mod record;
#[cfg(feature = "schema")]
pub mod schema;
pub mod state;
pub mod time;
pub mod token;
pub mod trace;
pub mod view;
pub mod wire;
