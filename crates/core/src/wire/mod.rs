//! How commands, outcomes and views travel as JSON.
//!
//! The types say their own names and units with serde; this module adds what serde cannot say and what differs between a
//! caller and a store:
//!
//! * A field of bytes called `input` travels as `input` (any JSON value), or as `input_base64`, with `input_type` beside it.
//!   On the type: `#[serde(rename = "input:bytes")]`.
//! * A group of fields may stand between the fields around it, as a fence does. On the type: `#[serde(rename = "..fence")]`.
//! * A request with a field nobody knows is refused and told the nearest name there is; in a reply such a field is ignored,
//!   and in a store it is carried along. That is the reader's choice, so the same type serves all three.
//! * A fault says where it is, as a JSON pointer.
//! * What the surroundings of a request say may be *offered*: a command that knows such a field and was not given it takes it.

mod bytes;
mod depth;
mod fault;
mod fields;
mod forms;
mod nearest;
mod read;
mod write;

pub use bytes::is_json;
pub use fault::Fault;
pub use fields::Fields;
pub(crate) use forms::repeatable;
pub use forms::{Repeatable, answers, fence};
pub use read::{Unknown, read, read_many};
pub use write::{to_json, to_writer};

use crate::error::Rejection;

/// Reads the body of a request: an empty one is an empty object.
pub fn from_request<T: serde::de::DeserializeOwned>(body: &[u8]) -> Result<T, Rejection> {
    let body = if body.is_empty() { b"{}" } else { body };
    read(Fields::of_json(body)?, Unknown::Refused)
}

/// Reads the body of a reply.
pub fn from_reply<T: serde::de::DeserializeOwned>(body: &[u8]) -> Result<T, Rejection> {
    read::read_value(body, Unknown::Ignored)
}

/// What a marked name asks for.
pub(crate) enum Mark<'n> {
    /// A field like any other.
    Plain,
    /// Bytes, under this name and its two companions.
    Bytes(&'n str),
    /// The fields of this one stand between those around it.
    Inline,
}

/// What the serde name of a field says about how it travels.
pub(crate) fn mark(name: &str) -> Mark<'_> {
    if name.starts_with("..") {
        return Mark::Inline;
    }
    name.strip_suffix(":bytes").map_or(Mark::Plain, Mark::Bytes)
}

#[cfg(test)]
mod tests;
