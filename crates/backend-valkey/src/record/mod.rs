//! Records as hashes: hot fields plain, everything else in one JSON field.

mod attempt;
mod fields;
mod score;

pub(crate) use attempt::attempt;
pub(crate) use fields::{Found, execution, parse_version, read_record, version_text};
pub(crate) use score::{SPAN_MS, created_at, parse_score, score_text};
