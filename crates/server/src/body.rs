//! Reading a body that is neither too large nor too slow.

use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use ff_core::error::{Code, Rejection};
use http_body_util::{BodyExt, LengthLimitError, Limited};

/// The body of a request for `what`, which may have so many bytes and take so long.
pub(crate) async fn receive(body: Body, what: &str, bytes_max: usize, patience: Duration) -> Result<Bytes, Rejection> {
    let too_large = || Code::PayloadTooLarge.because(format!("a request of {what} has at most {bytes_max} bytes"));
    if HttpBody::size_hint(&body).lower() > bytes_max as u64 {
        return Err(too_large());
    }
    let received = Limited::new(body, bytes_max).collect();
    match tokio::time::timeout(patience, received).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large()),
        Ok(Err(_)) => Err(Code::InvalidInput.because("the body ended before it was whole")),
        Err(_) => Err(Code::RequestTimeout.because(format!("the body was not there after {} s", patience.as_secs()))),
    }
}
