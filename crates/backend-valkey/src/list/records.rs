//! Records by name, and pages of the records a walk leads to.

use ff_backend::codec::cursor::{Cut, VISITED_MAX};
use ff_backend::codec::key::name;
use ff_backend::query::Cursor;
use ff_backend::transaction::Version;
use ff_backend::{Error, Result};
use ff_core::partition::Partition;
use ff_core::record::{Record, RecordKey};
use ff_core::time::Timestamp;
use redis::Value;

use super::reader::{Command, Reader};
use super::walk::{ListPosition, Walk};
use crate::record::{decode, parse_version};
use crate::reply::{bytes, list, number, optional_text};

/// Records that are read at once at most, when a filter leaves out most of them.
const BATCH_MAX: usize = 500;

/// The fields a record is made of.
pub(super) const FIELDS: [&str; 4] = ["version", "body", "claim", "expires"];

/// A record that was looked for.
type Found = Result<Option<(Record, Version)>>;

impl Reader<'_> {
    /// The records with these keys, those that exist.
    async fn records(&mut self, keys: Vec<(Partition, RecordKey)>) -> Result<Vec<Found>> {
        let command = |key: &RecordKey| Command::new("HMGET", name(key)).args(FIELDS);
        let commands = keys.iter().map(|(partition, key)| (*partition, command(key)));
        let replies = self.ask_each(commands.collect()).await?;
        let now = self.now().unwrap_or_default();
        let found = keys.iter().zip(replies);
        Ok(found.map(|((_, key), reply)| record(key, list(reply)?, now)).collect())
    }

    /// A page of what `keep` makes of the records that a walk leads to.
    pub(super) async fn page<R>(
        &mut self,
        cut: &Cut,
        walk: Walk,
        keep: impl Fn(Record, Version) -> Option<R> + Send + Sync,
    ) -> Result<(Vec<R>, Option<Cursor>)> {
        self.page_of(cut, walk, |found| {
            Ok(found?.and_then(|(record, version)| keep(record, version)))
        })
        .await
    }

    /// The same without those that cannot be read: what concerns many must not stop at one.
    pub(super) async fn readable_page<R>(
        &mut self,
        cut: &Cut,
        walk: Walk,
        keep: impl Fn(Record, Version) -> Option<R> + Send + Sync,
    ) -> Result<(Vec<R>, Option<Cursor>)> {
        self.page_of(cut, walk, |found| {
            let found = if_readable(found)?.flatten();
            Ok(found.and_then(|(record, version)| keep(record, version)))
        })
        .await
    }

    async fn page_of<R>(
        &mut self,
        cut: &Cut,
        mut walk: Walk,
        keep: impl Fn(Found) -> Result<Option<R>> + Send + Sync,
    ) -> Result<(Vec<R>, Option<Cursor>)> {
        let go_on = |last: Option<ListPosition>| last.map(|position| cut.cursor(&position));
        let (mut rows, mut last, mut visited) = (Vec::new(), None, 0);
        let mut batch = cut.limit;
        while rows.len() < cut.limit && visited < VISITED_MAX {
            let positions = walk.next(self, batch).await?;
            if positions.is_empty() {
                return Ok((rows, None));
            }
            visited += positions.len();
            // Whatever is left out, more of it is likely to follow.
            batch = (2 * batch).min(BATCH_MAX.max(cut.limit));
            let records = self.at(&walk, &positions).await?;
            for (position, record) in positions.into_iter().zip(records) {
                if rows.len() == cut.limit {
                    return Ok((rows, go_on(last)));
                }
                rows.extend(keep(record)?);
                last = Some(position);
            }
        }
        Ok((rows, go_on(last.filter(|_| walk.has_more()))))
    }

    async fn at(&mut self, walk: &Walk, positions: &[ListPosition]) -> Result<Vec<Found>> {
        let keys = positions.iter().map(|position| {
            let key = walk.record_key(position)?;
            Ok((Partition::flow(position.partition), key))
        });
        self.records(keys.collect::<Result<_>>()?).await
    }
}

/// What was read; `None`, and a line in the log, when it cannot be.
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
pub(super) fn record(key: &RecordKey, fields: Vec<Value>, now: Timestamp) -> Result<Option<(Record, Version)>> {
    let mut fields = fields.into_iter();
    let mut next = || fields.next().unwrap_or(Value::Nil);
    let (version, body, claim, expires) = (next(), next(), next(), next());
    let Some(version) = parse_version(optional_text(&version)?.unwrap_or_default())? else {
        return Ok(None);
    };
    if optional_text(&expires)?.is_some() && Timestamp::from_millis(number(&expires)?).has_come(now) {
        return Ok(None);
    }
    let record = decode(key, &bytes(body)?, optional_text(&claim)?.unwrap_or_default())?;
    Ok(Some((record, version)))
}
