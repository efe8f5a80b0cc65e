//! A route for every operation of the table.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::extract::{ConnectInfo, RawPathParams, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, MethodRouter};
use axum::{Extension, Router};
use ff_core::caller::Caller;
use ff_core::error::Rejection;
use ff_core::fabric::{Method, OPERATIONS, Operation, Reply, op};
use ff_core::payload::Payload;
use serde::Deserialize;

use crate::problem::Answer;
use crate::request::Received;
use crate::{Server, events};

/// Every route below the version.
pub(crate) fn routes() -> Router<Server> {
    let mut paths: BTreeMap<String, MethodRouter<Server>> = BTreeMap::new();
    for operation in OPERATIONS {
        let handler = move |State(server): State<Server>, Extension(caller), path: RawPathParams, request: Request| {
            serve(operation, server, caller, path, request)
        };
        let pattern = pattern(operation.path);
        let handlers = paths.remove(&pattern).unwrap_or_default();
        paths.insert(pattern, handlers.on(filter(operation.method), handler));
    }
    let routes = paths.into_iter();
    routes.fold(Router::new(), |router, (path, handlers)| router.route(&path, handlers))
}

/// The path with its fields numbered: what stands at one place has several names in the table.
pub(crate) fn pattern(path: &str) -> String {
    let mut fields = 0;
    let parts = path.split('/').map(|part| {
        if !part.starts_with('{') {
            return part.to_owned();
        }
        fields += 1;
        format!("{{field{fields}}}")
    });
    parts.collect::<Vec<_>>().join("/")
}

const fn filter(method: Method) -> MethodFilter {
    match method {
        Method::GET => MethodFilter::GET,
        Method::POST => MethodFilter::POST,
        Method::PUT => MethodFilter::PUT,
        Method::PATCH => MethodFilter::PATCH,
        Method::DELETE => MethodFilter::DELETE,
    }
}

async fn serve(
    operation: &'static Operation,
    server: Server,
    caller: Caller,
    path: RawPathParams,
    request: Request,
) -> Answer<Response> {
    let peer = request
        .extensions()
        .get()
        .map(|ConnectInfo(peer): &ConnectInfo<SocketAddr>| peer.ip());
    let received = Received::read(operation, &server, &path, request).await?;
    let limits = &server.limits;
    if operation.name == op::events.name && !received.wants_json() {
        let permit = limits.stream(&caller)?;
        let stream = events::follow(server.fabric(caller), &received).await?;
        return Ok(permit.held_by(stream));
    }
    let fields = received.fields()?;
    let named = |name| fields.clone().take_text(name).map_err(Rejection::from);
    let waits = named("wait_ms")?.is_some_and(|wait| wait != "0");
    let _parked = waits.then(|| limits.park(&caller)).transpose()?;
    let fabric = server.fabric(caller);
    let call = (operation.call)(&*fabric, fields.clone());
    let reply = if operation.name == op::deliver_signal.name {
        let waitpoint = named("waitpoint_id")?;
        let peer = peer.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
        limits.guessing(waitpoint.unwrap_or_default(), peer, call).await?
    } else {
        call.await?
    };
    Ok(answer(operation, reply))
}

fn answer(operation: &Operation, reply: Reply) -> Response {
    match reply {
        Reply::Nothing => StatusCode::NO_CONTENT.into_response(),
        Reply::Bytes(payload) => raw(payload),
        Reply::Json(json) => {
            let status = match operation.method {
                Method::POST if is_created(&json) => StatusCode::CREATED,
                _ => StatusCode::OK,
            };
            let kind = [
                (header::CONTENT_TYPE, "application/json"),
                (header::CACHE_CONTROL, "no-store"),
            ];
            (status, kind, json).into_response()
        }
    }
}

/// Whether an outcome says that there is something new.
fn is_created(json: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Outcome<'a> {
        status: Option<&'a str>,
    }
    let outcome: Option<Outcome<'_>> = serde_json::from_slice(json).ok();
    outcome.is_some_and(|outcome| outcome.status == Some("created"))
}

/// Bytes of a user. They come from this server's own origin, so a browser must neither guess what they are nor run them.
fn raw(payload: Payload) -> Response {
    let content_type = payload.content_type.as_str();
    let is_text = content_type == "application/json" || content_type.starts_with("text/plain");
    let kind = HeaderValue::from_str(content_type).unwrap_or(HeaderValue::from_static("application/octet-stream"));
    let mut response = payload.bytes.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, kind);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox"));
    if !is_text {
        headers.insert(header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment"));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_of_a_path_has_the_name_of_its_place() {
        assert_eq!(
            pattern(op::read_stream.path),
            "/executions/{field1}/attempts/{field2}/stream"
        );
    }

    #[test]
    fn only_what_says_so_is_new() {
        assert!(is_created(br#"{"flow_id":"x","status":"created"}"#));
        assert!(!is_created(br#"{"status":"exists"}"#) && !is_created(b"[]"));
    }
}
