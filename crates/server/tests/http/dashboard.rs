//! The pages, and what they load.

use axum::Router;
use axum::http::{Method, StatusCode};
use ff_server::Settings;

use crate::scene::{Answer, Scene, request};

const PAGES: [&str; 18] = [
    "/",
    "/executions",
    "/executions/fp:1:01999999-0000-7000-8000-000000000000",
    "/flows",
    "/flows/01999999-0000-7000-8000-000000000000",
    "/approvals",
    "/approvals/fp:1:x/y",
    "/lanes",
    "/lanes/a%2Fb",
    "/budgets",
    "/budgets/x",
    "/quotas",
    "/quotas/x",
    "/workers",
    "/workers/web-1",
    "/events",
    "/keys",
    "/sign-in",
];

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      form-action 'none'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
                      trusted-types 'none'";

fn assert_guarded(answer: &Answer, path: &str) {
    for (name, value) in [
        ("content-security-policy", POLICY),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
    ] {
        assert_eq!(answer.header(name), value, "{path}");
    }
    assert!(answer.header("permissions-policy").contains("camera=()"), "{path}");
}

fn text(answer: &Answer) -> String {
    String::from_utf8(answer.body.to_vec()).unwrap()
}

/// What a document loads, as it says it.
fn loaded(html: &str) -> Vec<String> {
    let is_file = |part: &&str| part.contains("/a/") && (part.ends_with(".js") || part.ends_with(".css"));
    html.split('"').filter(is_file).map(str::to_owned).collect()
}

/// Where a document leads to, as it says it.
fn links(html: &str) -> Vec<String> {
    let linked = html
        .split("<a ")
        .skip(1)
        .filter_map(|link| link.split("href=\"").nth(1)?.split('"').next());
    linked
        .filter(|path| !path.starts_with('#'))
        .map(str::to_owned)
        .collect()
}

/// Where a browser at `page` goes for a relative address.
fn resolved(page: &str, relative: &str) -> String {
    let mut parts: Vec<&str> = page.split('?').next().unwrap().split('/').collect();
    parts.pop();
    for part in relative.split('/') {
        match part {
            "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[tokio::test]
async fn every_page_is_open_and_loads_what_is_there() {
    // Nothing of the store is in them: they need no key.
    let scene = Scene::with(Settings::default());
    for page in PAGES {
        let answer = scene.get(page).await;
        assert_eq!(answer.status, StatusCode::OK, "{page}");
        assert_eq!(answer.header("content-type"), "text/html; charset=utf-8");
        assert_eq!(answer.header("cache-control"), "no-cache");
        assert_eq!(answer.header("vary"), "cookie");
        assert_guarded(&answer, page);
        let html = text(&answer);
        assert!(!html.contains("{{"), "{page}: {html}");
        let loaded = loaded(&html);
        assert!(
            loaded.iter().any(|path| path.ends_with("core/main.js")),
            "{page}: {html}"
        );
        for relative in loaded {
            let path = resolved(page, &relative);
            let file = scene.get(&path).await;
            assert_eq!(file.status, StatusCode::OK, "{page} loads {path}");
            let kind = if path.ends_with(".css") {
                "text/css"
            } else {
                "text/javascript"
            };
            assert_eq!(file.header("content-type"), format!("{kind}; charset=utf-8"));
            assert_eq!(file.header("cache-control"), "public, max-age=31536000, immutable");
            assert_guarded(&file, &path);
        }
    }
}

#[tokio::test]
async fn a_page_that_has_not_changed_is_not_sent_again() {
    let scene = Scene::new();
    let first = scene.get("/executions").await;
    let tag = first.header("etag").to_owned();
    for known in [tag.clone(), format!("W/{tag}"), format!("\"x\", {tag}")] {
        let again = request(Method::GET, "/executions").header("if-none-match", &known);
        let again = scene.send(again, "").await;
        assert_eq!(
            (again.status, again.body.len()),
            (StatusCode::NOT_MODIFIED, 0),
            "{known}"
        );
        assert_eq!(again.header("etag"), tag);
    }
    let dark = request(Method::GET, "/executions")
        .header("if-none-match", &tag)
        .header("cookie", "a=b; ff_theme=dark.utc.<script>");
    let dark = scene.send(dark, "").await;
    assert_eq!(dark.status, StatusCode::OK);
    assert!(text(&dark).contains("\"dark utc\""), "{}", text(&dark));
}

#[tokio::test]
async fn what_is_no_page_is_what_it_was() {
    let scene = Scene::new();
    for path in [
        "/nowhere",
        "/executions/a/b",
        "/v1/nowhere",
        "/v1/executions/nonsense/nowhere",
        "/a/0/core/main.js",
        "/a/core/main.js",
        "/core/main.js",
        "/shell.html",
        "/index.html",
        "/test/axis.test.mjs",
    ] {
        let refused = scene.get(path).await;
        assert_eq!(refused.code(), (404, "not_found".into()), "{path}");
        assert_eq!(refused.header("content-type"), "application/problem+json");
    }
    let html = text(&scene.get("/").await);
    let main = loaded(&html)
        .into_iter()
        .find(|path| path.ends_with("core/main.js"))
        .unwrap();
    let assets = resolved("/", main.strip_suffix("core/main.js").unwrap());
    for path in [
        "shell.html",
        "test/axis.test.mjs",
        "core/../shell.html",
        "core/%2e%2e/shell.html",
        "",
        "core",
    ] {
        let refused = scene.get(&format!("{assets}{path}")).await;
        assert_eq!(refused.status, StatusCode::NOT_FOUND, "{path}");
    }
    for (path, kind) in [
        ("/healthz", "text/plain; charset=utf-8"),
        ("/docs", "text/html; charset=utf-8"),
        ("/openapi.json", "application/json"),
        ("/v1", "application/json"),
        ("/v1/executions", "application/json"),
    ] {
        assert_eq!(scene.get(path).await.header("content-type"), kind, "{path}");
    }
    let refused = scene.send(request(Method::POST, "/"), "").await;
    assert_eq!(refused.code(), (405, "method_not_allowed".into()));
    let head = scene.send(request(Method::HEAD, "/"), "").await;
    assert_eq!((head.status, head.body.len()), (StatusCode::OK, 0));
}

#[tokio::test]
async fn pages_below_a_path_of_an_application_find_their_files() {
    let mut scene = Scene::new();
    scene.router = Router::new().nest("/v1/jobs", scene.router);
    for page in PAGES {
        let page = if page == "/" {
            "/v1/jobs".to_owned()
        } else {
            format!("/v1/jobs{page}")
        };
        let answer = scene.get(&page).await;
        assert_eq!(answer.status, StatusCode::OK, "{page}");
        for relative in loaded(&text(&answer)) {
            let path = resolved(&page, &relative);
            assert!(path.starts_with("/v1/jobs/a/"), "{page}: {path}");
            assert_eq!(scene.get(&path).await.status, StatusCode::OK, "{page}: {path}");
        }
        for link in links(&text(&answer)) {
            let path = resolved(&page, &link);
            let there = scene.get(&path).await;
            assert_eq!(
                there.header("content-type"),
                "text/html; charset=utf-8",
                "{page}: {path}"
            );
        }
    }
}
