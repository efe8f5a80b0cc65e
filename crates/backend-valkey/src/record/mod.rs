//! Records as hashes: hot fields plain, everything else in one JSON field.

mod attempt;
mod entries;
mod fields;
mod score;

pub(crate) use entries::{Entries, WaitingEntry};
pub(crate) use fields::{decode, execution, parse_version, plain, version_text};
pub(crate) use score::{created_at, next_priority, parse_score};
