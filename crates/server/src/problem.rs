//! Refusals as replies: a rejection is the problem document, and its code has the status.

use axum::Json;
use axum::http::{Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use ff_core::error::{Code, Rejection};

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
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.0.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let kind = [(header::CONTENT_TYPE, "application/problem+json")];
        (status, kind, Json(self.0)).into_response()
    }
}

/// There is no such route.
pub(crate) async fn no_route(uri: Uri) -> Problem {
    Problem(Code::NotFound.because(format!("there is no {}", uri.path())))
}

/// The route does not take this method.
pub(crate) async fn no_method(method: Method, uri: Uri) -> Problem {
    Problem(Code::MethodNotAllowed.because(format!("{} does not take {method}", uri.path())))
}
