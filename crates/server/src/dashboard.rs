//! The dashboard: pages for people, made in the browser from the interface that everybody uses.
//!
//! Every page is the same small document, which loads the module of its address. It holds nothing of the store and needs no key.
//! All references are relative, so that it works below whatever path an application puts it.

use std::borrow::Cow;
use std::fmt::Write as _;

use axum::Router;
use axum::extract::{MatchedPath, Path};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use ff_core::digest::Digest;

use crate::problem;

mod files {
    include!(concat!(env!("OUT_DIR"), "/dashboard.rs"));
}

/// Where the pages are, and the module that makes each.
const PAGES: [(&str, &str); 18] = [
    ("/", "overview"),
    ("/executions", "executions"),
    ("/executions/{id}", "execution"),
    ("/flows", "flows"),
    ("/flows/{id}", "flow"),
    ("/approvals", "approvals"),
    ("/approvals/{execution}/{waitpoint}", "approvals"),
    ("/lanes", "lanes"),
    ("/lanes/{lane}", "lanes"),
    ("/budgets", "budgets"),
    ("/budgets/{id}", "budgets"),
    ("/quotas", "quotas"),
    ("/quotas/{id}", "quotas"),
    ("/workers", "workers"),
    ("/workers/{instance}", "workers"),
    ("/events", "events"),
    ("/keys", "keys"),
    (SIGN_IN, "sign-in"),
];

/// The one page for somebody of whom nothing is known yet.
const SIGN_IN: &str = "/sign-in";

/// Where scripts and styles are. What has changed has another address.
const ASSETS: &str = "/a/{hash}/{*path}";

/// Own files only, nothing inline, and text never becomes markup.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      form-action 'none'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
                      trusted-types 'none'";

/// What the pages never ask the browser for.
const PERMISSIONS: &str = "accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), magnetometer=(), \
                           microphone=(), midi=(), payment=(), publickey-credentials-get=(), usb=(), xr-spatial-tracking=()";

/// How a person likes to see it: words of a cookie that the pages write.
const THEME_COOKIE: &str = "ff_theme";
const THEME_WORDS: [&str; 5] = ["light", "dark", "compact", "utc", "nokeys"];

/// The routes of the pages and of what they load.
pub(crate) fn routes<S: Clone + Send + Sync + 'static>() -> Router<S> {
    let there = PAGES.into_iter().filter_map(|(path, module)| {
        let (_, modules) = files::MODULES.iter().find(|(name, _)| *name == module)?;
        Some((path, *modules))
    });
    there
        .map(|(path, modules)| {
            let serve =
                move |matched: MatchedPath, headers: HeaderMap| async move { page(path, modules, &matched, &headers) };
            (path, serve)
        })
        .fold(Router::new(), |router, (path, serve)| router.route(path, get(serve)))
        .route(ASSETS, get(asset))
}

/// A page, as this browser likes to see it.
fn page(path: &str, modules: &[&str], matched: &MatchedPath, headers: &HeaderMap) -> Response {
    let root = root(path, matched.as_str());
    let assets = format!("{root}a/{}", files::HASH);
    let mut preload = String::new();
    for module in modules {
        // Writing to a string does not fail.
        let _ = writeln!(preload, "<link rel=\"modulepreload\" href=\"{assets}/{module}\">");
    }
    if path != SIGN_IN {
        let _ = writeln!(
            preload,
            "<link rel=\"preload\" as=\"fetch\" crossorigin href=\"{root}v1/me\">"
        );
    }
    let text = files::SHELL
        .replace("{{theme}}", &theme(headers))
        .replace("{{base}}", &assets)
        .replace("{{home}}", &home(path, matched.as_str()))
        .replace("{{preload}}", preload.trim_end());
    let tag = format!("\"{}\"", Digest::of("page", [&text]).key());
    let is_known = headers
        .get_all(header::IF_NONE_MATCH)
        .iter()
        .filter_map(|known| known.to_str().ok())
        .any(|known| {
            known
                .split(',')
                .any(|known| known.trim().trim_start_matches("W/") == tag)
        });
    let own = [
        (header::ETAG, Cow::Owned(tag)),
        (header::CACHE_CONTROL, Cow::Borrowed("no-cache")),
        (header::VARY, Cow::Borrowed("cookie")),
    ];
    let own = own.map(|(name, value)| (name, value.into_owned()));
    if is_known {
        return (StatusCode::NOT_MODIFIED, own, guarded()).into_response();
    }
    let kind = [(header::CONTENT_TYPE, "text/html; charset=utf-8")];
    (own, kind, guarded(), text).into_response()
}

/// A script or style. One of another build is not there: whoever still shows its page loads the page again.
async fn asset(Path((hash, path)): Path<(String, String)>, headers: HeaderMap, uri: Uri) -> Response {
    let found = files::FILES.binary_search_by(|(name, ..)| (*name).cmp(&path));
    let (Ok(at), true) = (found, hash == files::HASH) else {
        return problem::no_route(uri).await.into_response();
    };
    let (name, text, packed) = files::FILES[at];
    let kind = if name.ends_with(".css") {
        "text/css; charset=utf-8"
    } else {
        "text/javascript; charset=utf-8"
    };
    let own = [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
        (header::VARY, "accept-encoding"),
    ];
    if takes_packed(&headers) {
        return (own, [(header::CONTENT_ENCODING, "gzip")], guarded(), packed).into_response();
    }
    (own, guarded(), text).into_response()
}

/// Whether a client says that it takes what is packed.
fn takes_packed(headers: &HeaderMap) -> bool {
    let taken = headers.get_all(header::ACCEPT_ENCODING).iter();
    let mut taken = taken
        .filter_map(|taken| taken.to_str().ok())
        .flat_map(|taken| taken.split(','));
    taken.any(|one| {
        let mut parts = one.split(';').map(str::trim);
        let is_gzip = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip"));
        is_gzip && !parts.any(|part| part.strip_prefix("q=").is_some_and(|weight| weight.parse() == Ok(0.0)))
    })
}

/// What every file says about how it may be used.
fn guarded() -> [(HeaderName, HeaderValue); 4] {
    [
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            HeaderValue::from_static("same-origin"),
        ),
        (
            HeaderName::from_static("permissions-policy"),
            HeaderValue::from_static(PERMISSIONS),
        ),
    ]
}

/// How a browser comes from a page to the place below which all of them are. The page itself may be below a path of an application,
/// and a browser takes away what is behind the last slash.
fn root(path: &str, matched: &str) -> String {
    match path.matches('/').count() - 1 {
        0 if path != "/" => "./".to_owned(),
        0 => match folder(path, matched) {
            Some(name) => format!("./{name}/"),
            None => "./".to_owned(),
        },
        up => "../".repeat(up),
    }
}

/// How it comes to the first page: below a path of an application that is the path itself, without a slash behind it.
fn home(path: &str, matched: &str) -> String {
    match folder(path, matched) {
        Some(name) if path == "/" => format!("./{name}"),
        Some(name) => format!("{}../{name}", root(path, matched)),
        None => root(path, matched),
    }
}

/// The last part of the path of an application below which a page is, if it is below one.
fn folder(path: &str, matched: &str) -> Option<String> {
    let above = matched.strip_suffix(path).unwrap_or(matched);
    let name = above.rsplit('/').next().filter(|name| !name.is_empty())?;
    Some(escape(name))
}

/// The words of the cookie that mean something.
fn theme(headers: &HeaderMap) -> String {
    let cookies = headers.get_all(header::COOKIE).iter();
    let pairs = cookies
        .filter_map(|cookies| cookies.to_str().ok())
        .flat_map(|cookies| cookies.split(';'));
    let named = |pair: &'_ str| Some(pair.trim().strip_prefix(THEME_COOKIE)?.strip_prefix('=')?.to_owned());
    let said = pairs.filter_map(named).next().unwrap_or_default();
    let words = THEME_WORDS
        .iter()
        .filter(|word| said.split('.').any(|said| said == **word));
    words.copied().collect::<Vec<_>>().join(" ")
}

/// Text as it may stand in an attribute.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_finds_the_others_from_wherever_it_is() {
        for (path, matched, expected) in [
            ("/", "/", "./"),
            ("/", "/jobs", "./jobs/"),
            ("/executions", "/jobs/executions", "./"),
            ("/executions/{id}", "/executions/{id}", "../"),
            (
                "/approvals/{execution}/{waitpoint}",
                "/approvals/{execution}/{waitpoint}",
                "../../",
            ),
        ] {
            assert_eq!(root(path, matched), expected, "{path} at {matched}");
        }
    }

    #[test]
    fn every_page_finds_the_first_one() {
        for (path, matched, expected) in [
            ("/", "/", "./"),
            ("/executions", "/executions", "./"),
            ("/executions/{id}", "/executions/{id}", "../"),
            ("/", "/app/jobs", "./jobs"),
            ("/executions", "/app/jobs/executions", "./../jobs"),
            ("/executions/{id}", "/app/jobs/executions/{id}", "../../jobs"),
        ] {
            assert_eq!(home(path, matched), expected, "{path} at {matched}");
        }
    }

    #[test]
    fn only_known_words_of_the_cookie_reach_the_page() {
        let said = |cookie: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::COOKIE, HeaderValue::from_str(cookie).unwrap());
            theme(&headers)
        };
        assert_eq!(said("a=b; ff_theme=compact.dark"), "dark compact");
        assert_eq!(said("ff_theme=\"><script>.utc"), "utc");
        assert_eq!(said("xff_theme=dark; ff_themes=dark"), "");
    }

    #[test]
    fn every_page_has_its_module_and_every_import_leads_to_a_file() {
        for (path, module) in PAGES {
            assert!(
                files::MODULES.iter().any(|(name, _)| *name == module),
                "{path}: there is no page/{module}.js"
            );
        }
        for (page, modules) in files::MODULES {
            for module in *modules {
                let found = files::FILES.binary_search_by(|(name, ..)| (*name).cmp(module));
                assert!(found.is_ok(), "{page} imports {module}, which is not there");
            }
        }
    }

    #[test]
    fn all_of_it_is_small() {
        let bytes: usize = files::FILES.iter().map(|(.., packed)| packed.len()).sum();
        assert!(bytes <= 160 * 1024, "all scripts and styles have {bytes} bytes, packed");
        assert!(
            files::SHELL.len() <= 6 * 1024,
            "the shell has {} bytes",
            files::SHELL.len()
        );
    }

    #[test]
    fn the_first_page_is_small() {
        let (_, modules) = files::MODULES.iter().find(|(name, _)| *name == "overview").unwrap();
        let is_first = |name: &str| name.ends_with(".css") || modules.contains(&name);
        let first = files::FILES.iter().filter(|(name, ..)| is_first(name));
        let bytes: usize = first.map(|(.., packed)| packed.len()).sum();
        assert!(bytes <= 60 * 1024, "the overview loads {bytes} bytes, packed");
    }

    #[test]
    fn only_who_takes_what_is_packed_gets_it() {
        for (said, expected) in [
            ("gzip, deflate, br", true),
            ("br;q=1.0, GZIP;q=0.5", true),
            ("gzip;q=0", false),
            ("br", false),
            ("", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(said));
            assert_eq!(takes_packed(&headers), expected, "{said}");
        }
    }
}
