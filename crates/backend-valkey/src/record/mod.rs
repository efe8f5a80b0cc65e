//! Records as hashes: what functions look at in one line of text, everything else in one JSON field.

mod attempt;
mod fields;

pub(crate) use attempt::AttemptText;
pub(crate) use fields::{Found, VersionText, execution, parse_version, read_record};
