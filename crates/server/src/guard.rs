//! A server without keys answers only to its own machine: a web page elsewhere must not reach it through the browser.
//!
//! Any page may send a form or plain text to localhost without being asked, and a name of its own may point there too. So the
//! request must be addressed to this machine, and come from a page of this server or from no page at all.

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, Method, header};
use ff_core::error::{Code, Rejection};

use crate::settings::Settings;

/// Host names that mean this machine.
pub const LOOPBACK_NAMES: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
/// What a browser says of a request to where its page is from.
const SAME_ORIGIN: &str = "same-origin";

/// Refuses requests for another host, or from a page of another origin.
pub(crate) fn check(settings: &Settings, request: &Request) -> Result<(), Rejection> {
    let headers = request.headers();
    let host = host_of(request);
    if let Some(foreign) = host.filter(|host| !settings.any_host && !is_loopback(host)) {
        return Err(refused(foreign));
    }
    if let Some(origin) = headers.get(header::ORIGIN) {
        let origin = origin.to_str().unwrap_or("?");
        let is_own = host.is_some_and(|host| is_own(settings, origin, host));
        let is_named = settings.origins.iter().any(|named| named == origin);
        return if is_own || is_named {
            Ok(())
        } else {
            Err(refused(origin))
        };
    }
    match text(headers, &FETCH_SITE) {
        Some(site @ ("cross-site" | "same-site")) if !is_visit(request) => Err(refused(site)),
        _ => Ok(()),
    }
}

/// What is known of a request before its body is read.
#[derive(Clone, Copy)]
pub(crate) struct Head<'r> {
    pub(crate) method: &'r Method,
    pub(crate) headers: &'r HeaderMap,
    /// What it is addressed to.
    host: Option<&'r str>,
}

impl<'r> Head<'r> {
    pub(crate) fn of(request: &'r Request) -> Self {
        Self {
            method: request.method(),
            headers: request.headers(),
            host: host_of(request),
        }
    }
}

/// Refuses what a page of another origin does with the cookie of one of ours.
pub(crate) fn check_own_origin(settings: &Settings, asked: Head<'_>) -> Result<(), Rejection> {
    let headers = asked.headers;
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let (origin, further) = (origins.next(), origins.next());
    let origin = origin
        .and_then(|origin| origin.to_str().ok())
        .filter(|_| further.is_none());
    let site = text(headers, &FETCH_SITE);
    let is_own = match (origin, asked.host) {
        (Some(origin), Some(host)) if site.is_none_or(|site| site == SAME_ORIGIN) => {
            is_own(settings, origin, host) || site.is_some() && is_behind_tls(origin, host)
        }
        _ => false,
    };
    if is_own { Ok(()) } else { Err(not_of_ours(origin)) }
}

/// Refuses what a page of another origin reads with the cookie of one of ours.
pub(crate) fn check_reader(settings: &Settings, asked: Head<'_>) -> Result<(), Rejection> {
    if asked.headers.contains_key(header::ORIGIN) {
        return check_own_origin(settings, asked);
    }
    match text(asked.headers, &FETCH_SITE) {
        // The user: by a bookmark, or by typing the address.
        None | Some(SAME_ORIGIN | "none") => Ok(()),
        site => Err(not_of_ours(site)),
    }
}

/// Whether the browser came through TLS although this server does not know: something in front of it ended it.
fn is_behind_tls(origin: &str, host: &str) -> bool {
    let name = origin.strip_prefix("https://");
    name.is_some_and(|name| name.eq_ignore_ascii_case(host))
}

/// Whether a browser keeps to itself what it is given for TLS only.
pub(crate) fn came_through_tls(settings: &Settings, headers: &HeaderMap) -> bool {
    settings.tls || text(headers, &header::ORIGIN).is_some_and(|origin| origin.starts_with("https://"))
}

fn not_of_ours(by: Option<&str>) -> Rejection {
    let by = by.unwrap_or("nobody");
    Code::Forbidden.because(format!(
        "whoever is signed in with a page asks from that page, not from {by:?}; what stands in front of this server must leave \
         Host as it is"
    ))
}

fn refused(by: &str) -> Rejection {
    Code::Forbidden.because(format!(
        "this server has no keys and answers only to this machine and its own pages, not to {by:?}"
    ))
}

/// What a request is addressed to.
fn host_of(request: &Request) -> Option<&str> {
    let in_header = request.headers().get(header::HOST);
    in_header
        .map(|host| host.to_str().unwrap_or("?"))
        .or_else(|| request.uri().authority().map(|authority| authority.as_str()))
}

/// Whether a page of this origin came from where this request goes to.
fn is_own(settings: &Settings, origin: &str, host: &str) -> bool {
    let scheme = if settings.tls { "https" } else { "http" };
    let named = origin.split_once("://");
    named.is_some_and(|(given, name)| given == scheme && name.eq_ignore_ascii_case(host))
}

/// Whether somebody opens a page of ours by a link: that reads nothing and does nothing.
fn is_visit(request: &Request) -> bool {
    let is_page = !request.uri().path().starts_with("/v1");
    is_page && request.method() == Method::GET && text(request.headers(), &FETCH_MODE) == Some("navigate")
}

fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name).map(|value| value.to_str().unwrap_or("?"))
}

fn is_loopback(host: &str) -> bool {
    let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    let name = match host.rsplit_once(':') {
        Some((name, port)) if is_port(port) => name,
        _ => host,
    };
    LOOPBACK_NAMES.iter().any(|own| own.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    #[test]
    fn only_this_machine_has_a_loopback_name() {
        for own in [
            "localhost",
            "LOCALHOST:1",
            "localhost:7117",
            "127.0.0.1:80",
            "[::1]",
            "[::1]:7117",
        ] {
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

    fn asked(settings: &Settings, method: &str, path: &str, headers: &[(&str, &str)]) -> bool {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        check(settings, &request.body(Body::empty()).unwrap()).is_ok()
    }

    #[test]
    fn pages_of_other_origins_are_refused() {
        let settings = Settings {
            origins: vec!["https://console.example".to_owned()],
            ..Settings::loopback()
        };
        let host = ("host", "localhost:7117");
        let from = |origin| asked(&settings, "POST", "/v1/executions", &[host, ("origin", origin)]);
        assert!(from("http://localhost:7117") && from("https://console.example"));
        for foreign in [
            "http://localhost:3000",
            "https://localhost:7117",
            "http://127.0.0.1:7117",
            "http://localhost",
            "https://evil.example",
            "null",
        ] {
            assert!(!from(foreign), "{foreign}");
        }
        assert!(!asked(&settings, "GET", "/healthz", &[("host", "evil.example:7117")]));
        assert!(
            asked(&settings, "GET", "/healthz", &[]),
            "curl over HTTP/1.0 has no host"
        );
    }

    #[test]
    fn only_a_visit_to_a_page_comes_from_elsewhere() {
        let settings = Settings::loopback();
        let host = ("host", "localhost:7117");
        let site = |path, site, mode| {
            let headers = [host, ("sec-fetch-site", site), ("sec-fetch-mode", mode)];
            asked(&settings, "GET", path, &headers)
        };
        assert!(site("/v1/executions", "same-origin", "cors") && site("/v1/executions", "none", "navigate"));
        for other in ["cross-site", "same-site"] {
            assert!(!site("/v1/executions", other, "no-cors") && !site("/v1/executions", other, "navigate"));
            assert!(site("/docs", other, "navigate") && !site("/docs", other, "no-cors"));
        }
    }

    #[test]
    fn with_tls_pages_come_through_tls_too() {
        let settings = Settings {
            tls: true,
            any_host: true,
            ..Settings::loopback()
        };
        let from = |origin| {
            asked(
                &settings,
                "POST",
                "/v1/executions",
                &[("host", "ff.lan"), ("origin", origin)],
            )
        };
        assert!(from("https://ff.lan") && !from("http://ff.lan") && !from("https://other.lan"));
    }
}
