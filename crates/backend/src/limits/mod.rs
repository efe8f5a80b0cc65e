//! Budgets and quota policies over the accounts of a store: what the rules of [`ff_core::machine`] say is looked up, decided
//! and written here, once for every store.
//!
//! Reports, admissions and releases are one call each. Everything else reads an account, decides, and changes it if nobody
//! else did; who reports or asks meanwhile is in nobody's way, and is as if it had come before or after.

mod accounts;
pub mod budgets;
mod definitions;
mod direct;
pub mod quotas;

pub use accounts::{Accounts, Failed, forget, generation_of, mark};
pub use definitions::Definitions;
pub use direct::Direct;
