//! Bytes in JSON: a value as it is, or any bytes in base64.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ff_core::error::{Code, Rejection};
use ff_core::name::ContentType;
use ff_core::payload::Payload;
use serde::Serialize;
use serde_json::value::RawValue;

/// A payload as it is sent to a client.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum PayloadBody {
    /// JSON, as it came.
    Json(Box<RawValue>),
    /// Anything else.
    Bytes {
        /// The bytes.
        base64: String,
        /// What the sender said they are.
        content_type: String,
    },
}

impl From<&Payload> for PayloadBody {
    fn from(payload: &Payload) -> Self {
        let json = || RawValue::from_string(std::str::from_utf8(&payload.bytes).ok()?.to_owned()).ok();
        let is_json = payload.content_type == ContentType::json();
        match is_json.then(json).flatten() {
            Some(value) => PayloadBody::Json(value),
            None => PayloadBody::Bytes {
                base64: STANDARD.encode(&payload.bytes),
                content_type: payload.content_type.to_string(),
            },
        }
    }
}

/// The payload of a request that gives it as a JSON value or in base64, or not at all.
pub(crate) fn given(json: Option<Box<RawValue>>, base64: Option<String>) -> Result<Option<Payload>, Rejection> {
    match (json, base64) {
        (Some(_), Some(_)) => Err(Code::InvalidInput.because("give the bytes as JSON or in base64, not both")),
        (Some(value), None) => Ok(Some(Payload {
            // The text as it came: numbers keep every digit.
            bytes: value.get().to_owned().into(),
            content_type: ContentType::json(),
        })),
        (None, Some(text)) => {
            let bytes = STANDARD.decode(text.as_bytes());
            let invalid = |error| Code::InvalidInput.because(format!("the base64 text: {error}"));
            Ok(Some(Payload::binary(bytes.map_err(invalid)?)))
        }
        (None, None) => Ok(None),
    }
}
