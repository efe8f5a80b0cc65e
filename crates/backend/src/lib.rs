//! The storage contract of FlowFabric.
//!
//! A backend stores records, commits a small transaction if the versions it was computed from still hold, and answers a
//! handful of index questions. It decides nothing: every rule is in [`ff_core::machine`]. [`Backend`] is the contract,
//! [`memory`] the reference it is measured by, and `conformance` (behind a feature) the suite every backend runs unchanged.

mod backend;
mod error;

pub mod codec;
#[cfg(feature = "conformance")]
pub mod conformance;
pub mod counted;
pub mod due;
pub mod frames;
pub mod hint;
pub mod layer;
pub mod ledger;
pub mod limits;
pub mod load;
pub mod memory;
pub mod opening;
pub mod query;
pub mod queues;
pub mod reserve;
pub mod settings;
pub mod transaction;
pub mod tries;

pub use backend::Backend;
pub use error::{Error, Result};
