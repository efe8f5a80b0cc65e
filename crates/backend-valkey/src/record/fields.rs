//! The fields of a record, and the record of fields.

use ff_backend::Result;
use ff_backend::codec::record;
use ff_backend::transaction::{Tag, Version};
use ff_core::record::{Execution, Record, RecordKey, stored};

use super::attempt::attempt;
use crate::error::corrupt;

/// A version as it stands on a record: the counter, and the tag in hex.
pub(crate) fn version_text(version: Version) -> String {
    format!("{}-{:016x}", version.counter, version.tag.0)
}

/// The version a text stands for; `None`: there is no record.
pub(crate) fn parse_version(text: &str) -> Result<Option<Version>> {
    if text.is_empty() {
        return Ok(None);
    }
    let unknown = || corrupt(format!("version {text:?}"));
    let (counter, tag) = text.split_once('-').ok_or_else(unknown)?;
    Ok(Some(Version {
        counter: counter.parse().map_err(corrupt)?,
        tag: Tag(u64::from_str_radix(tag, 16).map_err(corrupt)?),
    }))
}

/// What stands on an execution in plain text, for the store's functions and for people.
pub(crate) struct Plain {
    pub(crate) created: String,
    pub(crate) attempt: String,
    pub(crate) flow: Option<String>,
}

/// The plain fields of an execution; other records have none.
pub(crate) fn plain(record: &Record) -> Option<Plain> {
    let Record::Execution(execution) = record else {
        return None;
    };
    Some(Plain {
        created: execution.definition.created_at.as_millis().to_string(),
        attempt: attempt(execution),
        flow: execution.definition.flow.map(|flow_id| flow_id.to_string()),
    })
}

/// An execution that was stored.
pub(crate) fn execution(body: &[u8]) -> Result<Execution> {
    stored::read(text(body)?).map_err(corrupt)
}

/// The record with this key, from its body and the claim beside it.
pub(crate) fn decode(key: &RecordKey, body: &[u8], claim: &str) -> Result<Record> {
    Ok(record::read_with_claim(key, text(body)?, claim)?)
}

/// All of it is looked at once, which is cheaper than each text in it.
fn text(body: &[u8]) -> Result<&str> {
    str::from_utf8(body).map_err(corrupt)
}
