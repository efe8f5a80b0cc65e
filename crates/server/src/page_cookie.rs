//! The cookie of a page whose user has signed in: what stands in it, when it is taken, and when it is not.
//!
//! A browser sends it with every request to this host, whoever made the page that asks. So it counts only for requests that come
//! from a page of this very server, and for those that change something only if they also say so in a header: a form cannot.

use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use ff_core::error::{Code, Rejection};
use ff_core::limits::SIGNED_IN_FOR;
use ff_core::token::SignInTicket;

use crate::guard::{self, Head};
use crate::settings::Settings;

/// What it is called.
const NAME: &str = "ff_key";
/// What a page says with whatever is more than reading.
pub(crate) const FROM_PAGE: HeaderName = HeaderName::from_static("x-ff-page");

/// The ticket that a request carries. Of several it is not known which one this server gave, so there is none.
pub(crate) fn ticket(headers: &HeaderMap) -> Option<&str> {
    let cookies = headers.get_all(header::COOKIE).iter();
    let pairs = cookies
        .filter_map(|cookies| cookies.to_str().ok())
        .flat_map(|cookies| cookies.split(';'));
    let mut tickets = pairs.filter_map(|pair| pair.trim().strip_prefix(NAME)?.strip_prefix('='));
    match (tickets.next(), tickets.next()) {
        (Some(only), None) => Some(only),
        _ => None,
    }
}

/// Refuses a request with a cookie that no page of this server made.
pub(crate) fn check(settings: &Settings, asked: Head<'_>) -> Result<(), Rejection> {
    match *asked.method {
        Method::GET | Method::HEAD => guard::check_reader(settings, asked),
        _ => check_page(settings, asked),
    }
}

/// Refuses a request that no script of a page of this server made.
pub(crate) fn check_page(settings: &Settings, asked: Head<'_>) -> Result<(), Rejection> {
    let mut said = asked.headers.get_all(&FROM_PAGE).iter();
    let is_said = said.next().is_some_and(|said| said == "1") && said.next().is_none();
    if !is_said {
        return Err(Code::Forbidden.because("a page that is signed in says X-FF-Page: 1 with whatever it does"));
    }
    guard::check_own_origin(settings, asked)
}

/// The cookie for this ticket, for what stands below `path`.
pub(crate) fn kept(ticket: &SignInTicket, path: &str, is_secure: bool) -> Option<HeaderValue> {
    cookie(ticket.expose(), path, is_secure, SIGNED_IN_FOR.as_millis() / 1_000)
}

/// What makes a browser forget it.
pub(crate) fn forgotten(path: &str, is_secure: bool) -> Option<HeaderValue> {
    cookie("", path, is_secure, 0)
}

fn cookie(value: &str, path: &str, is_secure: bool, seconds: u64) -> Option<HeaderValue> {
    let secure = if is_secure { "; Secure" } else { "" };
    let cookie = format!("{NAME}={value}; Path={path}; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}");
    let mut cookie = HeaderValue::try_from(cookie).ok()?;
    cookie.set_sensitive(true);
    Some(cookie)
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::extract::Request;

    use super::*;

    #[test]
    fn of_several_cookies_none_is_taken() {
        let found = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(header::COOKIE, HeaderValue::from_str(value).unwrap());
            }
            ticket(&headers).map(str::to_owned)
        };
        assert_eq!(found(&["a=b; ff_key=t; c=d"]), Some("t".to_owned()));
        for none in [
            &["ff_keys=t"][..],
            &["xff_key=t"],
            &["ff_key"],
            &["FF_KEY=t"],
            &["ff_key=t; ff_key=u"],
            &["ff_key=t", "ff_key=t"],
            &[],
        ] {
            assert_eq!(found(none), None, "{none:?}");
        }
    }

    fn passes(method: &str, headers: &[(&str, &str)]) -> bool {
        let mut request = Request::builder()
            .method(method)
            .uri("/v1/executions")
            .header("host", "ff.example");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let settings = Settings {
            tls: true,
            ..Settings::default()
        };
        check(&settings, Head::of(&request.body(Body::empty()).unwrap())).is_ok()
    }

    #[test]
    fn only_scripts_of_own_pages_do_something_with_it() {
        let (own, page) = (("origin", "https://ff.example"), ("x-ff-page", "1"));
        let site = |site| ("sec-fetch-site", site);
        assert!(passes("POST", &[own, page]) && passes("DELETE", &[own, page, site("same-origin")]));
        for refused in [
            &[][..],
            &[own],
            &[page],
            &[own, ("x-ff-page", "0")],
            &[own, ("x-ff-page", "")],
            &[own, page, page],
            &[own, own, page],
            &[page, ("origin", "http://ff.example")],
            &[page, ("origin", "https://ff.example:8443")],
            &[page, ("origin", "https://evil.example")],
            &[page, ("origin", "https://ff.example.evil.example")],
            &[page, ("origin", "https://a.ff.example")],
            &[page, ("origin", "null")],
            &[own, page, site("same-site")],
            &[own, page, site("cross-site")],
            &[own, page, site("none")],
        ] {
            for method in ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"] {
                assert!(!passes(method, refused), "{method} {refused:?}");
            }
        }
    }

    #[test]
    fn only_own_pages_and_the_user_read_with_it() {
        let site = |site| ("sec-fetch-site", site);
        assert!(passes("GET", &[]) && passes("GET", &[site("same-origin")]) && passes("HEAD", &[site("none")]));
        assert!(passes("GET", &[("origin", "https://ff.example")]));
        for refused in [
            site("same-site"),
            site("cross-site"),
            site("?"),
            ("origin", "https://evil.example"),
            ("origin", "null"),
        ] {
            assert!(!passes("GET", &[refused]) && !passes("HEAD", &[refused]), "{refused:?}");
        }
    }

    #[test]
    fn behind_something_that_ends_tls_the_browser_says_where_the_page_is_from() {
        let behind = |headers: &[(&str, &str)]| {
            let mut request = Request::post("/v1/executions")
                .header("host", "ff.example")
                .header("x-ff-page", "1");
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            check(&Settings::default(), Head::of(&request.body(Body::empty()).unwrap())).is_ok()
        };
        let (own, site) = (("origin", "https://ff.example"), ("sec-fetch-site", "same-origin"));
        assert!(behind(&[own, site]));
        assert!(!behind(&[own]) && !behind(&[("origin", "https://evil.example"), site]));
    }

    #[test]
    fn no_script_and_no_other_site_is_given_it() {
        let ticket = SignInTicket::from_text("00.11.22");
        assert_eq!(
            kept(&ticket, "/v1", true).unwrap(),
            "ff_key=00.11.22; Path=/v1; Max-Age=43200; HttpOnly; SameSite=Strict; Secure"
        );
        assert_eq!(
            forgotten("/jobs/v1", false).unwrap(),
            "ff_key=; Path=/jobs/v1; Max-Age=0; HttpOnly; SameSite=Strict"
        );
        assert_eq!(kept(&SignInTicket::from_text("a\nb"), "/v1", true), None);
    }
}
