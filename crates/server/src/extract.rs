//! Bodies and ids of requests, refused with a problem document when they are malformed.

use axum::body::Bytes;
use axum::extract::{FromRequest, Path, Request};
use ff_core::error::{Code, Rejection};
use serde::de::DeserializeOwned;

use crate::error::Problem;

/// Largest body of a request: a payload of 1 MiB in base64, and what stands around it.
const BODY_BYTES_MAX: usize = 2 * 1024 * 1024;

/// A JSON body. An empty one is an empty object.
pub(crate) struct Body<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        let bytes = axum::body::to_bytes(request.into_body(), BODY_BYTES_MAX).await;
        let too_large = |_| Code::PayloadTooLarge.because(format!("a request has at most {BODY_BYTES_MAX} bytes"));
        let bytes: Bytes = bytes.map_err(too_large)?;
        let text: &[u8] = if bytes.is_empty() { b"{}" } else { &bytes };
        let malformed = |error: serde_json::Error| Code::InvalidInput.because(format!("the body: {error}"));
        Ok(Self(serde_json::from_slice(text).map_err(malformed)?))
    }
}

/// The id or name in a path.
pub(crate) fn parsed<T: std::str::FromStr<Err = Rejection>>(Path(text): &Path<String>) -> Result<T, Rejection> {
    text.parse()
}
