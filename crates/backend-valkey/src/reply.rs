//! Taking replies apart. What is not as expected means that the store holds something it should not.

use bytes::Bytes;
use ff_backend::Result;
use ff_core::time::Timestamp;
use redis::Value;
use serde::de::DeserializeOwned;

use crate::error::corrupt;

/// The values of a list.
pub(crate) fn list(value: Value) -> Result<Vec<Value>> {
    match value {
        Value::Array(values) => Ok(values),
        Value::Nil => Ok(Vec::new()),
        other => Err(unexpected("a list", &other)),
    }
}

/// Bytes.
pub(crate) fn bytes(value: Value) -> Result<Bytes> {
    match value {
        Value::BulkString(bytes) => Ok(bytes.into()),
        other => Err(unexpected("bytes", &other)),
    }
}

/// Text.
pub(crate) fn text(value: &Value) -> Result<&str> {
    match value {
        Value::BulkString(bytes) => std::str::from_utf8(bytes).map_err(corrupt),
        Value::SimpleString(text) => Ok(text),
        other => Err(unexpected("text", other)),
    }
}

/// Text, if there is some.
pub(crate) fn optional_text(value: &Value) -> Result<Option<&str>> {
    match value {
        Value::Nil => Ok(None),
        value => text(value).map(|text| Some(text).filter(|text| !text.is_empty())),
    }
}

/// A number, given as one or as text.
pub(crate) fn number<N: TryFrom<i64> + std::str::FromStr>(value: &Value) -> Result<N> {
    let found = match value {
        Value::Int(number) => N::try_from(*number).ok(),
        Value::BulkString(_) => text(value)?.parse().ok(),
        _ => None,
    };
    found.ok_or_else(|| unexpected("a number", value))
}

/// A number, if there is one.
pub(crate) fn optional_number<N: TryFrom<i64> + std::str::FromStr>(value: &Value) -> Result<Option<N>> {
    match value {
        Value::Nil => Ok(None),
        Value::BulkString(bytes) if bytes.is_empty() => Ok(None),
        value => number(value).map(Some),
    }
}

/// A document.
pub(crate) fn document<T: DeserializeOwned>(text: impl AsRef<[u8]>) -> Result<T> {
    serde_json::from_slice(text.as_ref()).map_err(corrupt)
}

/// A list of exactly so many values.
pub(crate) fn values<const N: usize>(value: Value) -> Result<[Value; N]> {
    exactly(list(value)?)
}

/// Exactly so many values.
pub(crate) fn exactly<const N: usize>(found: Vec<Value>) -> Result<[Value; N]> {
    let len = found.len();
    found
        .try_into()
        .map_err(|_| corrupt(format!("{N} values were expected, {len} came")))
}

/// Rows of so many values each, which come one after the other.
pub(crate) fn rows<const N: usize>(found: Vec<Value>) -> Result<Vec<[Value; N]>> {
    let (len, mut found) = (found.len(), found.into_iter());
    if len % N != 0 {
        return Err(corrupt(format!("rows of {N} values were expected, {len} values came")));
    }
    let mut row = || std::array::from_fn(|_| found.next().unwrap_or(Value::Nil));
    Ok((0..len / N).map(|_| row()).collect())
}

fn unexpected(wanted: &str, found: &Value) -> ff_backend::Error {
    let kind = match found {
        Value::Nil => "nothing",
        Value::Int(_) => "a number",
        Value::BulkString(_) => "bytes",
        Value::Array(_) => "a list",
        _ => "something else",
    };
    corrupt(format!("{wanted} was expected, {kind} came"))
}

/// The number of a sorted set's entry, which the server may write with an exponent.
pub(crate) fn score(value: &Value) -> Result<f64> {
    match value {
        Value::Double(number) => Ok(*number),
        value => text(value)?.parse().map_err(corrupt),
    }
}

/// The number of a sorted set's entry where all are integers below 2^53.
pub(crate) fn whole_score(value: &Value) -> Result<i64> {
    #[expect(clippy::cast_possible_truncation, reason = "scores are integers below 2^53")]
    let number = score(value)? as i64;
    Ok(number)
}

/// The moment a sorted set's entry stands at.
pub(crate) fn moment(value: &Value) -> Result<Timestamp> {
    Ok(Timestamp::from_millis(whole_score(value)?.unsigned_abs()))
}
