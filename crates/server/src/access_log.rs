//! One line per request: what was asked for, by which key, and what came of it. Ids, queries and secrets are not in it: the
//! route is told as it is documented.

use std::time::Instant;

use axum::extract::{MatchedPath, Request};
use axum::http::Method;
use axum::response::Response;
use ff_core::caller::Caller;
use ff_core::error::{Code, Rejection};
use ff_core::name::Identity;

use crate::request_id::RequestId;
use crate::route::Route;

/// What is known of a request so far.
pub(crate) struct Line {
    began: Instant,
    request_id: String,
    method: Method,
    operation: Option<&'static str>,
    route: String,
    key: Option<Identity>,
}

impl Line {
    pub(crate) fn begin(request: &Request, id: &RequestId) -> Self {
        let route = Route::of(request);
        let matched = || request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
        Self {
            began: Instant::now(),
            request_id: id.0.clone(),
            method: request.method().clone(),
            operation: route.map(|route| route.name),
            route: route
                .map(|route| route.path.as_str())
                .or_else(matched)
                .unwrap_or("none")
                .to_owned(),
            key: None,
        }
    }

    /// What everything that is logged meanwhile stands in.
    pub(crate) fn span(&self) -> tracing::Span {
        let trace_id = tracing::field::Empty;
        tracing::info_span!("request", request_id = self.request_id, route = self.route, trace_id)
    }

    pub(crate) fn asked_by(&mut self, caller: &Caller) {
        self.key = caller.actor.identity();
    }

    pub(crate) fn end(self, response: &Response) {
        // The span says which request it was, and of which route.
        let Self {
            began,
            method,
            operation,
            key,
            ..
        } = self;
        let status = response.status().as_u16();
        let duration_ms = began.elapsed().as_micros() as f64 / 1_000.0;
        let key = key.as_ref().map(Identity::as_str);
        let code = response.extensions().get::<Rejection>().map(|refused| refused.code);
        if code == Some(Code::Internal) {
            tracing::error!(target: "ff::access", %method, operation, status, duration_ms, key, "internal error");
        } else {
            let code = code.map(Code::as_str);
            tracing::info!(target: "ff::access", %method, operation, status, code, duration_ms, key, "request");
        }
    }
}
