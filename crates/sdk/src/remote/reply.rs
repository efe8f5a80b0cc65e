//! An answer of the server as one of the interface.

use ff_core::error::{Code, Rejection};
use ff_core::fabric::Reply;
use ff_core::name::ContentType;
use ff_core::payload::Payload;
use reqwest::{Response, StatusCode, header};

use super::retry::Failure;

/// Reads what the server answered. The bytes are left as they are: only the operation knows what they mean.
pub(super) async fn read(response: Response) -> Result<(StatusCode, Reply), Failure> {
    let status = response.status();
    let content_type = response.headers().get(header::CONTENT_TYPE);
    let content_type = content_type
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default()
        .to_owned();
    let bytes = response.bytes().await.map_err(Failure::Unanswered)?;
    if status == StatusCode::NO_CONTENT {
        return Ok((status, Reply::Nothing));
    }
    if status.is_success() {
        let content_type = ContentType::parse(content_type).unwrap_or_else(|_| ContentType::binary());
        return Ok((status, Reply::Bytes(Payload { bytes, content_type })));
    }
    Err(Failure::Refused(refusal(status, &bytes)))
}

/// What the server adds to every refusal. It says nothing about the call, and a refusal is the same from near and from afar;
/// only where nobody knows what happened, the log does.
const ADDED: [&str; 2] = ["help", "request_id"];

/// The problem document, or what a status means that somebody between us and the server gave.
pub(super) fn refusal(status: StatusCode, body: &[u8]) -> Rejection {
    let refused: Result<Rejection, _> = serde_json::from_slice(body);
    if let Ok(mut refused) = refused {
        if refused.code != Code::Internal {
            refused.fields.retain(|name, _| !ADDED.contains(&name.as_ref()));
        }
        return refused;
    }
    let code = match status.as_u16() {
        401 => Code::Unauthenticated,
        403 => Code::Forbidden,
        404 => Code::NotFound,
        413 => Code::PayloadTooLarge,
        429 => Code::RateLimited,
        502 | 503 => Code::Unavailable,
        504 => Code::Timeout,
        _ => Code::Internal,
    };
    code.because(format!(
        "answered with {status}, and not in the way of a FlowFabric server"
    ))
}
