//! What is wrong in the same way on every route is refused in the same way, and nothing happens.

use axum::body::Body;
use axum::http::{Method, StatusCode};
use ff_core::fabric::{OPERATIONS, Operation};
use ff_server::EXTRAS;
use serde_json::json;

use crate::scene::{Answer, Scene, filled, request};

const PAYLOAD_BYTES_MAX: usize = 1024 * 1024;

/// Operations whose fields stand in a body.
fn with_body() -> impl Iterator<Item = &'static Operation> {
    OPERATIONS.iter().copied().filter(|known| known.method.has_body())
}

async fn send(scene: &Scene, known: &Operation, content_type: &str, body: impl Into<Body>) -> Answer {
    let method: Method = known.method.as_str().parse().unwrap();
    let asked = request(method, &filled(known.path)).header("content-type", content_type);
    scene.send(asked, body).await
}

/// Nothing is there.
async fn assert_untouched(scene: &Scene) {
    for path in [
        "executions",
        "flows",
        "budgets",
        "quotas",
        "workers",
        "lanes",
        "admin/keys",
    ] {
        let listed = scene.get(&format!("/v1/{path}")).await;
        assert_eq!(listed.json()["items"], json!([]), "{path}");
    }
}

#[tokio::test]
async fn a_body_that_is_no_object_is_refused() {
    let scene = Scene::new();
    let deep = format!(r#"{{"x":{}{}}}"#, "[".repeat(129), "]".repeat(129));
    let cases: [(&[u8], &str); 9] = [
        (b"{", ""),
        (b"[]", ""),
        (b"null", ""),
        (b"{} {}", ""),
        (b"{'x':1}", ""),
        (b"\xff", ""),
        (b"{\"x\":\"\xff\"}", ""),
        (br#"{"x":1,"x":2}"#, "/x"),
        (deep.as_bytes(), ""),
    ];
    for known in with_body() {
        for (body, pointer) in cases {
            let refused = send(&scene, known, "application/json", body.to_vec()).await;
            let told = String::from_utf8_lossy(body);
            assert_eq!(refused.code(), (400, "invalid_input".into()), "{}: {told}", known.name);
            assert_eq!(
                refused.json()["errors"][0]["pointer"],
                json!(pointer),
                "{}: {told}",
                known.name
            );
        }
    }
    assert_untouched(&scene).await;
}

#[tokio::test]
async fn a_field_nobody_knows_is_refused() {
    let scene = Scene::new();
    for known in OPERATIONS {
        let method: Method = known.method.as_str().parse().unwrap();
        let (query, body) = match known.method.has_body() {
            true => ("", r#"{"unheard_of":1}"#),
            false => ("?unheard_of=1", ""),
        };
        let asked = request(method.clone(), &format!("{}{query}", filled(known.path)))
            .header("accept", "application/json")
            .header("content-type", "application/json");
        let refused = scene.send(asked, body).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{}", known.name);
        if known.method.has_body() {
            let asked = request(method, &format!("{}?unheard_of=1", filled(known.path)));
            let refused = scene.send(asked.header("content-type", "application/json"), "{}").await;
            assert_eq!(
                refused.code(),
                (400, "invalid_input".into()),
                "{} with a query",
                known.name
            );
        }
    }
    assert_untouched(&scene).await;
}

#[tokio::test]
async fn a_body_of_another_type_is_refused() {
    let scene = Scene::new();
    for known in with_body() {
        for content_type in [
            "text/plain",
            "application/x-www-form-urlencoded",
            "multipart/form-data",
            "json",
            "",
        ] {
            let refused = send(&scene, known, content_type, "{}").await;
            let code = (415, "unsupported_media_type".into());
            assert_eq!(refused.code(), code, "{} of {content_type:?}", known.name);
        }
    }
    assert_untouched(&scene).await;
}

#[tokio::test]
async fn a_body_larger_than_its_route_takes_is_refused() {
    let scene = Scene::new();
    let extras = EXTRAS.iter().filter(|known| known.method.has_body());
    let extras = extras.map(|known| (known.name, known.method, known.path, known.body));
    let operations = with_body().map(|known| (known.name, known.method, known.path, known.body));
    for (name, method, path, body) in operations.chain(extras) {
        let max = body.bytes_max(PAYLOAD_BYTES_MAX);
        let asked = || {
            let method: Method = method.as_str().parse().unwrap();
            // As a page of this server: some routes are for those only.
            let asked = request(method, &filled(path)).header("origin", "http://localhost:7117");
            asked
                .header("x-ff-page", "1")
                .header("content-type", "application/json")
        };
        let too_large = (413, "payload_too_large".into());
        let known = scene.send(asked(), vec![b' '; max + 1]).await;
        assert_eq!(known.code(), too_large, "{name}");
        let parts = [Ok::<_, std::io::Error>(vec![b' '; max]), Ok(vec![b' '])];
        let unknown = scene
            .send(asked(), Body::from_stream(futures::stream::iter(parts)))
            .await;
        assert_eq!(
            unknown.code(),
            too_large,
            "{name}, which did not say how much would come"
        );
        let fits = scene.send(asked(), vec![b' '; max]).await;
        assert_ne!(fits.status, StatusCode::PAYLOAD_TOO_LARGE, "{name}");
    }
    // White space is an input of people, and no JSON of anybody else.
    let listed = scene.get("/v1/executions").await.json();
    assert!(listed["items"].as_array().unwrap().len() <= 1, "{listed}");
}

#[tokio::test]
async fn a_method_nobody_knows_is_refused_and_says_so() {
    let scene = Scene::new();
    let paths = OPERATIONS
        .iter()
        .map(|known| known.path)
        .chain(EXTRAS.iter().map(|known| known.path));
    for path in paths {
        for method in ["PROPFIND", "TRACE", "CONNECT"] {
            let refused = scene.send(request(method.parse().unwrap(), &filled(path)), "").await;
            assert_eq!(refused.code(), (405, "method_not_allowed".into()), "{method} {path}");
        }
    }
}
