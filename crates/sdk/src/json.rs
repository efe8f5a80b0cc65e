//! Values as JSON payloads, and back, with the place of what does not fit.

use ff_core::name::ContentType;
use ff_core::payload::Payload;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Why a payload is not the value that was asked for. It never shows the payload itself but for what serde says of the place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot be read{}: {reason}", self.at())]
pub struct Unreadable {
    /// Where in the JSON, as in `pages[3].url`; empty for the whole of it.
    pub path: String,
    /// What is wrong there.
    pub reason: String,
}

impl Unreadable {
    fn at(&self) -> String {
        if self.path.is_empty() {
            String::new()
        } else {
            format!(" at {}", self.path)
        }
    }
}

/// Writes a value.
pub fn write<T: Serialize + ?Sized>(value: &T) -> Result<Payload, serde_json::Error> {
    Ok(Payload {
        bytes: serde_json::to_vec(value)?.into(),
        content_type: ContentType::json(),
    })
}

/// Reads a value. No bytes are `null`: what other languages give for nothing.
pub fn read<T: DeserializeOwned>(payload: &Payload) -> Result<T, Unreadable> {
    let bytes: &[u8] = if payload.is_empty() { b"null" } else { &payload.bytes };
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut json).map_err(|error| Unreadable {
        path: match error.path().to_string() {
            whole if whole == "." => String::new(),
            path => path,
        },
        reason: error.inner().to_string(),
    })?;
    json.end().map_err(|error| Unreadable {
        path: String::new(),
        reason: error.to_string(),
    })?;
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let payload = write(&vec![Some(1), None]).unwrap();
        assert_eq!(payload.content_type, ContentType::json());
        assert_eq!(read::<Vec<Option<u8>>>(&payload).unwrap(), [Some(1), None]);
    }

    #[test]
    fn no_bytes_are_nothing() {
        read::<()>(&Payload::default()).unwrap();
        assert_eq!(read::<Option<u8>>(&Payload::default()).unwrap(), None);
    }

    #[test]
    fn the_place_of_what_does_not_fit_is_named() {
        let error = read::<Vec<u8>>(&Payload::binary(&b"[1,2,\"x\"]"[..])).unwrap_err();
        assert_eq!(error.path, "[2]");
        let error = read::<u8>(&Payload::binary(&b"1 2"[..])).unwrap_err();
        assert!(error.to_string().starts_with("cannot be read: trailing"), "{error}");
    }
}
