//! A server without keys answers only to its own machine: a web page elsewhere must not reach it through the browser.

use axum::extract::Request;
use axum::http::{HeaderMap, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use ff_core::error::Code;

use crate::problem::Problem;

/// Host names that mean this machine.
pub const LOOPBACK_NAMES: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Refuses requests for, or from a page of, another host.
pub(crate) async fn loopback_only(request: Request, next: Next) -> Response {
    match foreign(request.headers()) {
        None => next.run(request).await,
        Some(host) => {
            let detail = format!("this server has no keys and answers only to this machine, not to {host:?}");
            Problem::from(Code::Forbidden.because(detail)).into_response()
        }
    }
}

/// The first name of another host that a request carries.
fn foreign(headers: &HeaderMap) -> Option<String> {
    let host = headers.get(header::HOST).map(|host| host.to_str().unwrap_or("?"));
    let origin = headers.get(header::ORIGIN).map(|origin| origin.to_str().unwrap_or("?"));
    let origin_host = origin.map(|origin| origin.split_once("://").map_or(origin, |(_, host)| host));
    let mut named = host.into_iter().chain(origin_host);
    named.find(|name| !is_loopback(name)).map(str::to_owned)
}

fn is_loopback(host: &str) -> bool {
    let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    let name = match host.rsplit_once(':') {
        Some((name, port)) if is_port(port) => name,
        _ => host,
    };
    LOOPBACK_NAMES.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_has_a_loopback_name() {
        for own in ["localhost", "localhost:7117", "127.0.0.1:80", "[::1]", "[::1]:7117"] {
            assert!(is_loopback(own), "{own}");
        }
        for other in [
            "example.org",
            "localhost.example.org",
            "127.0.0.1.example.org:80",
            "",
            "null",
        ] {
            assert!(!is_loopback(other), "{other}");
        }
    }
}
