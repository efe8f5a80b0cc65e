//! Refusals as problem documents (RFC 9457). The only place that knows about HTTP statuses.

use axum::Json;
use axum::http::{HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use ff_core::error::{Code, Rejection};
use serde_json::{Map, Value};

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
        let Rejection { code, detail, fields } = self.0;
        let status = StatusCode::from_u16(code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut document: Map<String, Value> = fields
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
        document.extend([
            ("type".to_owned(), Value::from(format!("urn:flowfabric:error:{code}"))),
            ("title".to_owned(), Value::from(code.as_str().replace('_', " "))),
            ("status".to_owned(), Value::from(code.status())),
            ("detail".to_owned(), Value::from(detail)),
            ("code".to_owned(), Value::from(code.as_str())),
            ("retryable".to_owned(), Value::from(code.retryable())),
        ]);
        let kind: [(HeaderName, &str); 1] = [(header::CONTENT_TYPE, "application/problem+json")];
        (status, kind, Json(Value::Object(document))).into_response()
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
