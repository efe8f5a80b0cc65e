//! Refusals as problem documents (RFC 9457). The only place that knows about HTTP statuses.

use axum::Json;
use axum::http::{HeaderName, StatusCode, header};
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
        let kind: [(HeaderName, &str); 1] = [(header::CONTENT_TYPE, "application/problem+json")];
        (status, kind, Json(self.0)).into_response()
    }
}

/// There is no such route.
pub(crate) async fn no_route(uri: axum::http::Uri) -> Problem {
    Problem(Code::NotFound.because(format!("there is no {}", uri.path())))
}

/// The route does not take this method.
pub(crate) async fn no_method(method: axum::http::Method, uri: axum::http::Uri) -> Problem {
    Problem(Code::MethodNotAllowed.because(format!("{} does not take {method}", uri.path())))
}
