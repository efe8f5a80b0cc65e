//! The fields of a record, and the record of fields.

use ff_backend::Result;
use ff_backend::transaction::{Tag, Version};
use ff_core::record::{Execution, Record, RecordKey};
use serde::Serialize;

use super::attempt::attempt;
use super::claim::Claim;
use crate::error::corrupt;
use crate::reply::document;

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

/// The whole record.
pub(crate) fn body(record: &Record) -> String {
    match record {
        Record::Execution(execution) => json(execution),
        Record::Attempt(_, attempt) => json(attempt),
        Record::Waitpoint(waitpoint) => json(waitpoint),
        Record::Signal(signal) => json(signal),
        Record::SignalKey(key) => json(key),
        Record::SubmissionKey(key) => json(key),
        Record::Flow(flow) => json(flow),
        Record::Gate(gate) => json(gate),
        Record::Edge(edge) => json(edge),
    }
}

fn json(value: &impl Serialize) -> String {
    // Most bodies have about this size: growing there step by step would copy them several times.
    let mut bytes = Vec::with_capacity(1_024);
    serde_json::to_writer(&mut bytes, value).expect("a record is a document");
    String::from_utf8(bytes).expect("a document is text")
}

/// The record with this key, from its body and the claim beside it.
pub(crate) fn decode(key: &RecordKey, body: &[u8], claim: &str) -> Result<Record> {
    Ok(match key {
        RecordKey::Execution(_) => {
            let execution: Execution = document(body)?;
            let execution = match Claim::parse(claim)? {
                Some(claim) => claim.apply(&execution),
                None => execution,
            };
            Record::Execution(Box::new(execution))
        }
        RecordKey::Attempt(id, _) => Record::Attempt(*id, document(body)?),
        RecordKey::Waitpoint(..) => Record::Waitpoint(document(body)?),
        RecordKey::Signal(..) => Record::Signal(document(body)?),
        RecordKey::SignalKey(..) => Record::SignalKey(document(body)?),
        RecordKey::SubmissionKey(..) => Record::SubmissionKey(document(body)?),
        RecordKey::Flow(_) => Record::Flow(document(body)?),
        RecordKey::Gate(_) => Record::Gate(document(body)?),
        RecordKey::Edge(_) => Record::Edge(document(body)?),
    })
}
