//! Refusals as replies: a rejection is the problem document, and its code has the status.

use axum::Json;
use axum::http::{HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use ff_core::error::{Code, Rejection};

use crate::request_id::RequestId;

/// A refusal on its way to a client.
pub(crate) struct Problem(Rejection);

/// What a route answers.
pub(crate) type Answer<T> = Result<T, Problem>;

impl From<Rejection> for Problem {
    fn from(rejection: Rejection) -> Self {
        Self(rejection)
    }
}

impl IntoResponse for Problem {
    /// The refusal goes along with an answer that is still empty: only at the front the request has its name.
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.0.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = status.into_response();
        response.extensions_mut().insert(self.0);
        response
    }
}

/// Writes the document of a refusal that an answer brings along.
pub(crate) fn named(response: Response, id: &RequestId) -> Response {
    let Some(refused) = response.extensions().get::<Rejection>() else {
        return response;
    };
    let help = format!("/docs/errors#{}", refused.code);
    let document = Json(refused.clone().with("request_id", id.0.as_str()).with("help", help));
    let (mut head, _) = response.into_parts();
    let (written, body) = document.into_response().into_parts();
    head.headers.extend(written.headers);
    let problem = HeaderValue::from_static("application/problem+json");
    head.headers.insert(header::CONTENT_TYPE, problem);
    if let Some(refused) = head.extensions.get::<Rejection>() {
        head.headers.extend(asked_for(refused));
    }
    Response::from_parts(head, body)
}

/// What a refusal asks of the client, as HTTP says it.
fn asked_for(refused: &Rejection) -> Option<(header::HeaderName, HeaderValue)> {
    if refused.code == Code::Unauthenticated {
        return Some((header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer")));
    }
    let wait_ms = refused.fields.get("retry_after_ms")?.as_u64()?;
    Some((header::RETRY_AFTER, wait_ms.div_ceil(1_000).into()))
}

/// There is no such route.
pub(crate) async fn no_route(uri: Uri) -> Problem {
    Problem(Code::NotFound.because(format!("there is no {}", uri.path())))
}

/// The route does not take this method.
pub(crate) async fn no_method(method: Method) -> Problem {
    Problem(Code::MethodNotAllowed.because(format!("there is nothing to {method} here")))
}
