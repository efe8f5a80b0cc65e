//! Records by name.

use ff_backend::codec::key::name;
use ff_backend::{Error, Result};
use ff_core::partition::Partition;
use ff_core::record::RecordKey;
use ff_core::time::Timestamp;
use redis::Value;

use super::reader::{Command, Reader};
use crate::record::{Found, read_record};
use crate::reply::{list, optional_number};

/// The fields a record is made of.
pub(super) const FIELDS: [&str; 3] = ["head", "body", "expires"];

impl Reader<'_> {
    /// The records with these keys, those that exist.
    pub(super) async fn records(&mut self, keys: &[(Partition, RecordKey)]) -> Result<Vec<Found>> {
        let missing = keys.iter().filter(|place| !self.kept.contains_key(place));
        let command = |key: &RecordKey| Command::new("HMGET", name(key)).args(FIELDS);
        let commands = missing.map(|(partition, key)| (*partition, command(key)));
        let mut replies = self.ask_each(commands.collect()).await?.into_iter();
        let now = self.now().unwrap_or_default();
        let found = keys.iter().map(|place| match self.kept.remove(place) {
            Some(fields) => record(&place.1, fields, now),
            None => record(&place.1, list(replies.next().unwrap_or(Value::Nil))?, now),
        });
        Ok(found.collect())
    }
}

/// What was read; `None`, and a line in the log, when it cannot be: what concerns many must not stop at one.
pub(super) fn if_readable<T>(read: Result<T>) -> Result<Option<T>> {
    match read {
        Err(Error::Corrupt(why)) => {
            tracing::error!(%why, "a record cannot be read; it is left out");
            Ok(None)
        }
        read => read.map(Some),
    }
}

/// The record that stands in [`FIELDS`]. One whose time to live is over is gone.
pub(super) fn record(key: &RecordKey, fields: Vec<Value>, now: Timestamp) -> Found {
    let mut fields = fields.into_iter();
    let mut next = || fields.next().unwrap_or(Value::Nil);
    let (head, body, expires) = (next(), next(), next());
    match optional_number(&expires)?.map(Timestamp::from_millis) {
        Some(expires_at) if expires_at.has_come(now) => Ok(None),
        _ => read_record(key, &head, body),
    }
}
