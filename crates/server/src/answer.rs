//! Answers as responses: the status, and what else HTTP says about an outcome.

use std::borrow::Cow;

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use ff_core::fabric::{Method, Operation, Reply};
use ff_core::payload::Payload;
use serde::Deserialize;

use crate::query::encode;
use crate::request::Asked;

/// Says that an answer is that of an earlier call with the same key.
pub(crate) const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// The response for what an operation answered.
pub(crate) fn answer(operation: &Operation, asked: &Asked, reply: Reply) -> Response {
    match reply {
        Reply::Nothing => StatusCode::NO_CONTENT.into_response(),
        Reply::Bytes(payload) => raw(payload),
        Reply::Json(json) => {
            let outcome = Outcome::of(&json);
            let status = match operation.method {
                Method::POST if outcome.is_new() => StatusCode::CREATED,
                _ => StatusCode::OK,
            };
            let next = outcome.next.as_deref().map(|cursor| next_page(asked, cursor));
            let replayed = outcome.is_replay();
            let mut response = (status, [(header::CONTENT_TYPE, "application/json")], json).into_response();
            let headers = response.headers_mut();
            headers.extend(next.and_then(|link| Some((header::LINK, HeaderValue::try_from(link).ok()?))));
            if replayed && asked.header("idempotency-key").is_ok_and(|key| key.is_some()) {
                headers.insert(REPLAYED, HeaderValue::from_static("true"));
            }
            response
        }
    }
}

/// What HTTP must know of an outcome.
#[derive(Default, Deserialize)]
struct Outcome<'a> {
    #[serde(borrow)]
    status: Option<Cow<'a, str>>,
    #[serde(default)]
    repeated: bool,
    #[serde(borrow)]
    next: Option<Cow<'a, str>>,
}

impl<'a> Outcome<'a> {
    /// An answer without these fields says nothing of the kind.
    fn of(json: &'a [u8]) -> Self {
        serde_json::from_slice(json).unwrap_or_default()
    }

    /// Whether there is something new.
    fn is_new(&self) -> bool {
        self.status.as_deref() == Some("created")
    }

    /// Whether it had come about before.
    fn is_replay(&self) -> bool {
        let status = self.status.as_deref().unwrap_or_default();
        self.repeated || ["duplicate", "exists", "already_applied"].contains(&status)
    }
}

/// Where a listing goes on: the same request with another cursor.
fn next_page(asked: &Asked, cursor: &str) -> String {
    let others = asked.query.iter().filter(|(name, _)| name != "cursor");
    let others = others.map(|(name, value)| format!("{}={}&", encode(name), encode(value)));
    format!(
        "<?{}cursor={}>; rel=\"next\"",
        others.collect::<String>(),
        encode(cursor)
    )
}

/// Bytes of a user. They come from this server's own origin, so a browser must neither guess what they are nor show them as a page.
pub(crate) fn raw(payload: Payload) -> Response {
    let kind = HeaderValue::from_str(payload.content_type.as_str())
        .unwrap_or(HeaderValue::from_static("application/octet-stream"));
    let mut response = payload.bytes.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, kind);
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox"));
    headers.insert(header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_says_whether_it_is_new_or_a_repetition() {
        let outcome = |json: &'static str| Outcome::of(json.as_bytes());
        assert!(outcome(r#"{"flow_id":"x","status":"created"}"#).is_new());
        assert!(!outcome(r#"{"status":"exists"}"#).is_new() && !outcome("[]").is_new());
        assert!(outcome(r#"{"status":"duplicate"}"#).is_replay());
        assert!(outcome(r#"{"status":"completed","repeated":true}"#).is_replay());
        assert!(!outcome(r#"{"status":"completed"}"#).is_replay());
    }
}
