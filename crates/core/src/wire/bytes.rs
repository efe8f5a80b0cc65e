//! Bytes in JSON: a value as it is, or any bytes in base64; and what they are.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::value::RawValue;

use super::depth;
use super::fault::Fault;
use crate::name::ContentType;
use crate::payload::Payload;

/// The three fields a payload travels in.
#[derive(Default)]
pub(super) struct Triple<'a> {
    /// `P`
    pub(super) json: Option<&'a RawValue>,
    /// `P_base64`
    pub(super) base64: Option<String>,
    /// `P_type`
    pub(super) content_type: Option<String>,
}

impl Triple<'_> {
    /// The payload they say.
    pub(super) fn payload(self, name: &str) -> Result<Payload, Fault> {
        let (bytes, usual) = match (self.json, self.base64) {
            (Some(_), Some(_)) => {
                return Err(Fault::new(format!("give {name} or {name}_base64, not both")));
            }
            (None, None) => return Err(Fault::new(format!("{name}_type says what is not there"))),
            // The text as it came: numbers keep every digit.
            (Some(json), None) => (json.get().to_owned().into_bytes(), ContentType::json()),
            (None, Some(text)) => {
                let invalid =
                    |error| Fault::new(format!("this is not base64: {error}")).beside(format!("{name}_base64"));
                (STANDARD.decode(text).map_err(invalid)?, ContentType::binary())
            }
        };
        let content_type = match self.content_type {
            None => usual,
            Some(text) => ContentType::parse(text)
                .map_err(<Fault as serde::de::Error>::custom)
                .map_err(|fault| fault.beside(format!("{name}_type")))?,
        };
        Ok(Payload {
            bytes: bytes.into(),
            content_type,
        })
    }
}

/// How a payload is written.
pub(super) enum Form {
    /// As the JSON it is.
    Json(Box<RawValue>),
    /// In base64.
    Base64(String),
}

/// JSON that would come back byte for byte stands as it is; everything else in base64.
pub(super) fn form(bytes: &[u8], content_type: &str) -> Form {
    let is_json = content_type == "application/json" || content_type.ends_with("+json");
    match is_json.then(|| as_it_is(bytes)).flatten() {
        Some(value) => Form::Json(value),
        None => Form::Base64(STANDARD.encode(bytes)),
    }
}

fn as_it_is(bytes: &[u8]) -> Option<Box<RawValue>> {
    let text = std::str::from_utf8(bytes).ok()?;
    let value = RawValue::from_string(text.to_owned()).ok()?;
    (value.get() == text && depth::fits(bytes)).then_some(value)
}

/// Whether bytes are one JSON value that everybody can read.
pub fn is_json(bytes: &[u8]) -> bool {
    serde_json::from_slice::<&RawValue>(bytes).is_ok() && depth::fits(bytes)
}

/// What a reader takes the bytes for when no type is given.
pub(super) fn usual_type(form: &Form) -> &'static str {
    match form {
        Form::Json(_) => "application/json",
        Form::Base64(_) => "application/octet-stream",
    }
}
