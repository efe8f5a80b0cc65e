//! The fields of a record, and the record of fields.

use std::fmt;

use ff_backend::Result;
use ff_backend::codec::record;
use ff_backend::transaction::{Tag, Version};
use ff_core::record::{Execution, Record, RecordKey, stored};
use redis::Value;

use crate::error::corrupt;
use crate::reply::{bytes, optional_text};

/// A version as it stands on a record: the counter, and the tag in hex.
pub(crate) struct VersionText(pub(crate) Version);

impl fmt::Display for VersionText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{:016x}", self.0.counter, self.0.tag.0)
    }
}

/// The version a text begins with, be it a version or the head of a record; `None`: there is no record.
pub(crate) fn parse_version(text: &str) -> Result<Option<Version>> {
    let text = text.split(' ').next().unwrap_or_default();
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

/// An execution that was stored.
pub(crate) fn execution(body: &[u8]) -> Result<Execution> {
    stored::read(text(body)?).map_err(corrupt)
}

/// A record that was looked for.
pub(crate) type Found = Result<Option<(Record, Version)>>;

/// The record with this key, if there is one, from its head, which may end with a claim, and its body.
pub(crate) fn read_record(key: &RecordKey, head: &Value, body: Value) -> Found {
    let head = optional_text(head)?.unwrap_or_default();
    let Some(version) = parse_version(head)? else {
        return Ok(None);
    };
    let claim = head.split_once('\n').map_or("", |(_, claim)| claim);
    let record = record::read_with_claim(key, text(&bytes(body)?)?, claim)?;
    Ok(Some((record, version)))
}

/// All of it is looked at once, which is cheaper than each text in it.
fn text(body: &[u8]) -> Result<&str> {
    str::from_utf8(body).map_err(corrupt)
}
