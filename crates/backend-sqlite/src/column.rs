//! How values stand in columns.

use std::cmp::Reverse;
use std::fmt::Display;
use std::str::FromStr;

use bytes::Bytes;
use ff_backend::codec::key;
use ff_backend::transaction::{Tag, Version};
use ff_core::id::ExecutionId;
use ff_core::machine::placement::Score;
use ff_core::partition::Partition;
use ff_core::payload::Payload;
use ff_core::time::Timestamp;
use rusqlite::Row;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::corrupt;

/// A number as a column can hold it: none there is greater.
pub(crate) fn integer(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

/// The uuid of an execution and the number of its partition, as its tables are keyed.
pub(crate) fn columns(id: ExecutionId) -> (String, u16) {
    (id.uuid().to_string(), id.partition().index)
}

/// A text that is not copied.
pub(crate) fn text<'r>(row: &'r Row<'_>, column: usize) -> rusqlite::Result<&'r str> {
    Ok(row.get_ref(column)?.as_str()?)
}

/// A validated name or id.
pub(crate) fn parsed<T: FromStr<Err: Display>>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    parse(text(row, column)?)
}

/// A validated name or id that may be absent.
pub(crate) fn parsed_if_any<T: FromStr<Err: Display>>(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<T>> {
    row.get_ref(column)?.as_str_or_null()?.map(parse).transpose()
}

/// A validated name or id that was stored as text.
pub(crate) fn parse<T: FromStr<Err: Display>>(text: &str) -> rusqlite::Result<T> {
    text.parse().map_err(corrupt)
}

/// A moment.
pub(crate) fn moment(row: &Row<'_>, column: usize) -> rusqlite::Result<Timestamp> {
    row.get(column).map(Timestamp::from_millis)
}

/// A moment that may be absent.
pub(crate) fn moment_if_any(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Timestamp>> {
    let millis: Option<u64> = row.get(column)?;
    Ok(millis.map(Timestamp::from_millis))
}

/// A version that stands in two columns, the counter first.
pub(crate) fn version(row: &Row<'_>, column: usize) -> rusqlite::Result<Version> {
    let tag: i64 = row.get(column + 1)?;
    Ok(Version {
        counter: row.get(column)?,
        tag: Tag(tag.cast_unsigned()),
    })
}

/// An execution that stands in two columns: uuid and partition.
pub(crate) fn execution_id(row: &Row<'_>, column: usize) -> rusqlite::Result<ExecutionId> {
    let partition = Partition::flow(row.get(column + 1)?);
    key::execution_id(partition, text(row, column)?).map_err(corrupt)
}

/// A score that stands in four columns: priority, creation, uuid and partition.
pub(crate) fn score(row: &Row<'_>, column: usize) -> rusqlite::Result<Score> {
    Ok(Score {
        priority: Reverse(row.get(column)?),
        created_at: moment(row, column + 1)?,
        id: execution_id(row, column + 2)?,
    })
}

/// A payload that stands in two columns: content type and bytes.
pub(crate) fn payload(row: &Row<'_>, column: usize) -> rusqlite::Result<Payload> {
    Ok(Payload {
        content_type: parsed(row, column)?,
        bytes: Bytes::copy_from_slice(row.get_ref(column + 1)?.as_blob()?),
    })
}

/// A document that was stored as JSON.
pub(crate) fn from_json<T: DeserializeOwned>(text: &str) -> rusqlite::Result<T> {
    serde_json::from_str(text).map_err(corrupt)
}

/// A document to be stored as JSON.
pub(crate) fn to_json(value: &impl Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(value).map_err(corrupt)
}
