//! Records as documents.

use ff_core::record::{Record, RecordKey, stored};

use super::claim::Claim;
use super::{Result, Unreadable};

/// The document a record is kept as.
pub fn write(record: &Record) -> String {
    stored::write_record(record).expect("a record is a document")
}

/// The record with this key that is kept as a document, without any claim beside it.
pub fn read(key: &RecordKey, document: &str) -> Result<Record> {
    stored::read_record(key, document).map_err(Unreadable::new)
}

/// The same with the claim beside it, which is empty where there is none.
pub fn read_with_claim(key: &RecordKey, document: &str, claim: &str) -> Result<Record> {
    Ok(match (read(key, document)?, Claim::parse(claim)?) {
        (Record::Execution(execution), Some(claim)) => Record::from(claim.apply(&execution)),
        (record, _) => record,
    })
}
