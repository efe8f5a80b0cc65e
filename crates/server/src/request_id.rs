//! The name of a request: its caller's, or one we give it. It is in the answer and in the log.

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use uuid::Uuid;

/// Where it travels.
pub(crate) const HEADER: HeaderName = HeaderName::from_static("x-request-id");
/// Longer ones are replaced.
const BYTES_MAX: usize = 128;

/// The name of one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestId(pub String);

impl RequestId {
    /// The name a caller gave its request, if it can stand in a line of a log; else a new one.
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let given = headers.get(HEADER).and_then(|id| id.to_str().ok());
        let usable = |id: &&str| (1..=BYTES_MAX).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic());
        let minted = || Uuid::now_v7().simple().to_string();
        Self(given.filter(usable).map_or_else(minted, str::to_owned))
    }

    pub(crate) fn to_header(&self) -> Option<HeaderValue> {
        HeaderValue::from_str(&self.0).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_would_spoil_a_log_is_replaced() {
        let named = |id: &str| {
            let id = HeaderValue::from_bytes(id.as_bytes()).unwrap();
            RequestId::of(&HeaderMap::from_iter([(HEADER, id)])).0
        };
        for kept in ["abc-1", "0190c5d4:x/y", &"x".repeat(128)] {
            assert_eq!(named(kept), kept);
        }
        for replaced in ["", "two words", "tab\there", "ö", &"x".repeat(129)] {
            let id = named(replaced);
            assert!(id != replaced && id.len() == 32, "{id}");
        }
        assert_ne!(RequestId::of(&HeaderMap::new()), RequestId::of(&HeaderMap::new()));
    }
}
