//! Verbs that keep a store safe: copies of it, and what is wrong with it.

mod backup;
mod foreign;
mod restore;

pub(crate) use backup::Backup;
pub(crate) use restore::Restore;
