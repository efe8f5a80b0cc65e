//! `/docs`: the interface and its errors, to be read in a browser. Nothing is loaded from elsewhere.

use std::fmt::Write as _;
use std::sync::LazyLock;

use axum::Router;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use ff_core::error::{Code, Help};

use crate::openapi;

/// The page's own files and no others; nobody frames it.
const POLICY: &str = "default-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'none'";

/// The routes of the pages and of the document they show. They are open: they say what every server says.
pub(crate) fn routes<S: Clone + Send + Sync + 'static>() -> Router<S> {
    Router::new()
        .route("/openapi.json", get(openapi::serve))
        .route(
            "/docs",
            get(|| async { file("text/html", include_str!("docs/page.html")) }),
        )
        .route(
            "/docs/page.js",
            get(|| async { file("text/javascript", include_str!("docs/page.js")) }),
        )
        .route(
            "/docs/page.css",
            get(|| async { file("text/css", include_str!("docs/page.css")) }),
        )
        .route("/docs/errors", get(|| async { file("text/html", ERRORS.as_str()) }))
}

fn file(kind: &str, text: &'static str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, format!("{kind}; charset=utf-8")),
        (header::CONTENT_SECURITY_POLICY, POLICY.to_owned()),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
        (header::REFERRER_POLICY, "no-referrer".to_owned()),
    ];
    (headers, text).into_response()
}

/// What a test has sent and been answered, under the name of each code.
const EXAMPLES: &str = include_str!("docs/examples.md");

/// A place for every code, which the `help` of a problem document leads to.
static ERRORS: LazyLock<String> = LazyLock::new(|| {
    let mut page = String::from(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <title>FlowFabric: errors</title><link rel=\"stylesheet\" href=\"/docs/page.css\"></head><body><main>\
         <p><a href=\"/docs\">The interface</a></p><h1>Errors</h1>\
         <p>A request that was refused changed nothing. What is retryable may succeed when it is sent again later. Examples \
         leave out what every answer has: <code>type</code>, <code>title</code>, <code>status</code>, <code>retryable</code>, \
         <code>request_id</code> and <code>help</code>.</p>\n",
    );
    for code in Code::ALL {
        let Help { cause, remedy } = code.help();
        let again = if code.retryable() { ", retryable" } else { "" };
        let (cause, remedy, status) = (html(cause), html(remedy), code.status());
        let (before, asked) = example(*code);
        let asked = asked.replace('&', "&amp;").replace('<', "&lt;");
        let asked = if asked.is_empty() {
            asked
        } else {
            format!("<pre>{asked}</pre>")
        };
        // Writing to a string does not fail.
        let _ = writeln!(
            page,
            "<section id=\"{code}\"><h3><a href=\"#{code}\">{code}</a></h3>\
             <p class=\"faint\">HTTP {status}{again}</p><p>{cause}</p><p>{remedy}</p><p>{before}</p>{asked}</section>",
            before = html(before),
        );
    }
    page + "</main></body></html>\n"
});

/// What comes before a request that is refused with this code, and the request with its answer.
fn example(code: Code) -> (&'static str, &'static str) {
    let after = EXAMPLES
        .split_once(&format!("\n## {code}\n"))
        .map_or("", |(_, after)| after);
    let own = after.split("\n## ").next().unwrap_or_default();
    let (before, asked) = own.split_once("```http\n").unwrap_or((own, ""));
    (before.trim(), asked.trim_end().trim_end_matches("```"))
}

/// Text between tags, with what stands in backticks as code.
fn html(text: &str) -> String {
    let plain = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let parts = plain.split('`').enumerate();
    parts
        .map(|(place, part)| {
            if place % 2 == 1 {
                format!("<code>{part}</code>")
            } else {
                part.to_owned()
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_of_errors_has_an_example_of_every_code() {
        for code in Code::ALL {
            let (before, asked) = example(*code);
            assert!(!before.is_empty() || asked.contains("HTTP "), "{code}");
            assert!(
                asked.is_empty() || asked.contains(&format!("\"code\": \"{code}\"")),
                "{code}: {asked}"
            );
        }
        assert!(ERRORS.contains("<pre>POST /v1/executions\n"), "{}", *ERRORS);
    }
}
