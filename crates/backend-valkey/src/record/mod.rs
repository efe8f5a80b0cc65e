//! Records as hashes: hot fields plain, everything else in one JSON field.

mod attempt;
mod fields;

pub(crate) use attempt::attempt;
pub(crate) use fields::{Found, execution, parse_version, read_record, version_text};
