//! Pages of other origins may use the server only where an operator has named their origin.

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::settings::Settings;

/// What such a page may send.
const METHODS: &str = "GET, POST, PUT, PATCH, DELETE";
const HEADERS: &str = "authorization, content-type, idempotency-key, last-event-id, traceparent, tracestate, x-fence, \
                       x-request-id, x-waitpoint-token";
/// What it may read beside the body.
const EXPOSED: &str = "idempotency-replayed, link, location, retry-after, x-request-id";
/// How long a browser remembers that it may, in seconds.
const REMEMBERED: &str = "600";

/// The origin of the page that asks, if an operator has named it.
pub(crate) fn named_origin(settings: &Settings, headers: &HeaderMap) -> Option<HeaderValue> {
    let origin = headers.get(header::ORIGIN)?;
    let is_named = settings
        .origins
        .iter()
        .any(|named| named.as_bytes() == origin.as_bytes());
    is_named.then(|| origin.clone())
}

/// The answer to a browser that asks whether a page may ask.
pub(crate) fn preflight(request: &Request) -> Option<Response> {
    let asks =
        request.method() == Method::OPTIONS && request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    let allowed = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, METHODS),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, HEADERS),
        (header::ACCESS_CONTROL_MAX_AGE, REMEMBERED),
    ];
    asks.then(|| (StatusCode::NO_CONTENT, allowed).into_response())
}

/// Lets a page of this origin read the answer.
pub(crate) fn allow(origin: HeaderValue, headers: &mut HeaderMap) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED));
    headers.append(header::VARY, HeaderValue::from_static("origin"));
}
