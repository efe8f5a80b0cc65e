//! Bytes that travel through the engine untouched.

use std::fmt;

use bytes::Bytes;

use crate::name::ContentType;

/// An input, result, signal or frame: any bytes, with the content type they were given under.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Payload {
    /// The bytes as they came.
    pub bytes: Bytes,
    /// What the sender said they are.
    pub content_type: ContentType,
}

impl Payload {
    /// Raw bytes.
    pub fn binary(bytes: impl Into<Bytes>) -> Self {
        Self {
            bytes: bytes.into(),
            content_type: ContentType::binary(),
        }
    }

    /// The JSON text of `value`.
    pub fn json(value: &serde_json::Value) -> Self {
        Self {
            bytes: value.to_string().into(),
            content_type: ContentType::json(),
        }
    }

    /// How many bytes there are.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}

impl fmt::Debug for Payload {
    /// Payloads are the user's business: logs show how much, never what.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Payload({} bytes, {})", self.len(), self.content_type)
    }
}
