//! What every request passes before its route and every answer after it.

#![expect(clippy::unwrap_used, reason = "a test that cannot set its scene has failed")]

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode};
use ff_backend::memory::MemoryBackend;
use ff_core::caller::Role;
use ff_core::command::key::{CreateKey, RevokeKey};
use ff_core::fabric::Fabric;
use ff_core::name::Identity;
use ff_core::partition::PartitionCounts;
use ff_core::time::Timestamp;
use ff_engine::{Config, Engine, TokioHost};
use ff_server::Settings;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;

fn engine() -> Engine {
    let counts = PartitionCounts::default();
    let store = Arc::new(MemoryBackend::new(Timestamp::from_millis(1_800_000_000_000), counts));
    Engine::new(store, Arc::new(TokioHost::new()), Config::new(counts))
}

/// A server that others reach, and the keys of these roles.
async fn keyed<const N: usize>(roles: [Role; N]) -> (Router, Engine, [String; N]) {
    let engine = engine();
    let mut keys = [const { String::new() }; N];
    for (role, key) in roles.into_iter().zip(&mut keys) {
        let command = CreateKey {
            name: Identity::parse(role.as_str()).unwrap(),
            role,
            namespace: None,
            expires_at: None,
        };
        let created = engine.create_key(command).await.unwrap();
        *key = format!("Bearer {}", created.key.expose());
    }
    (ff_server::router(engine.clone(), Settings::default()), engine, keys)
}

fn keyless(settings: Settings) -> Router {
    ff_server::router(engine(), settings)
}

struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Value,
}

impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }
}

async fn ask(server: &Router, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    let mut request = Request::builder()
        .method(method)
        .uri(path)
        .header("host", "localhost:7117");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let response = server
        .clone()
        .oneshot(request.body(Body::from(body.to_owned())).unwrap())
        .await
        .unwrap();
    let (head, body) = response.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    Answer {
        status: head.status,
        headers: head.headers,
        body: serde_json::from_slice(&body).unwrap_or(Value::Null),
    }
}

#[tokio::test]
async fn an_answer_has_the_name_of_its_request() {
    let server = keyless(Settings::loopback());
    let given = ask(&server, "GET", "/v1/executions", &[("x-request-id", "mine-7")], "").await;
    assert_eq!(
        (given.status, given.header("x-request-id")),
        (StatusCode::OK, Some("mine-7"))
    );
    assert_eq!(given.header("cache-control"), Some("no-store"));
    for path in [
        "/nowhere",
        "/v1/nowhere",
        "/v1/executions/nonsense",
        "/v1/grants/redeem",
    ] {
        let refused = ask(&server, "GET", path, &[], "").await;
        let id = refused.header("x-request-id").unwrap();
        assert_eq!(refused.body["request_id"], json!(id), "{path}");
        assert_eq!(refused.header("content-type"), Some("application/problem+json"));
    }
}

#[tokio::test]
async fn without_keys_pages_of_others_are_refused_before_their_body_is_read() {
    let server = keyless(Settings::loopback());
    let submit = r#"{"execution_kind":"job"}"#;
    for headers in [
        [("origin", "http://localhost:3000"), ("content-type", "text/plain")],
        [("origin", "null"), ("content-type", "text/plain")],
        [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "no-cors")],
    ] {
        let refused = ask(&server, "POST", "/v1/executions", &headers, submit).await;
        assert_eq!(
            (refused.status, &refused.body["code"]),
            (StatusCode::FORBIDDEN, &json!("forbidden"))
        );
    }
    let listed = ask(&server, "GET", "/v1/executions", &[], "").await;
    assert_eq!(listed.body["items"], json!([]), "nothing was done");
}

#[tokio::test]
async fn only_pages_of_named_origins_may_read_answers() {
    let server = keyless(Settings {
        origins: vec!["https://console.example".to_owned()],
        ..Settings::loopback()
    });
    let asks = [
        ("access-control-request-method", "POST"),
        ("origin", "https://console.example"),
    ];
    let allowed = ask(&server, "OPTIONS", "/v1/executions", &asks, "").await;
    assert_eq!(allowed.status, StatusCode::NO_CONTENT);
    assert_eq!(
        allowed.header("access-control-allow-origin"),
        Some("https://console.example")
    );
    assert!(
        allowed
            .header("access-control-allow-headers")
            .unwrap()
            .contains("authorization")
    );
    let read = ask(&server, "GET", "/v1/executions", &[asks[1]], "").await;
    assert_eq!(
        read.header("access-control-allow-origin"),
        Some("https://console.example")
    );
    assert_eq!(read.header("vary"), Some("origin"));
    let other = ask(
        &server,
        "OPTIONS",
        "/v1/executions",
        &[asks[0], ("origin", "https://evil.example")],
        "",
    )
    .await;
    assert_eq!(
        (other.status, other.header("access-control-allow-origin")),
        (StatusCode::FORBIDDEN, None)
    );
}

#[tokio::test]
async fn a_server_that_others_can_reach_asks_for_a_key() {
    let server = keyless(Settings::default());
    let refused = ask(&server, "GET", "/v1/executions", &[], "").await;
    assert_eq!(
        (refused.status, &refused.body["code"]),
        (StatusCode::UNAUTHORIZED, &json!("unauthenticated"))
    );
    assert_eq!(refused.header("www-authenticate"), Some("Bearer"));
    for open in ["/healthz", "/readyz"] {
        assert_eq!(
            ask(&server, "GET", open, &[], "").await.status,
            StatusCode::OK,
            "{open}"
        );
    }
    let unknown = [("authorization", "Bearer ff_nobody")];
    assert_eq!(
        ask(&server, "GET", "/v1/executions", &unknown, "").await.status,
        StatusCode::UNAUTHORIZED
    );
    let loopback = keyless(Settings::loopback());
    let wrong = ask(&loopback, "GET", "/v1/executions", &unknown, "").await;
    assert_eq!(
        wrong.status,
        StatusCode::UNAUTHORIZED,
        "a key that is shown must be a key"
    );
}

#[tokio::test]
async fn a_signal_needs_no_key_but_its_token() {
    let server = keyless(Settings::default());
    let path = "/v1/executions/%7Bfp:1%7D:0190c5d4-7a6b-7c3d-8e9f-a0b1c2d3e4f5/signal";
    let waitpoint = "0190c5d4-7a6b-7c3d-8e9f-a0b1c2d3e4f6";
    let signal = json!({ "waitpoint_id": waitpoint, "token": "k1.AAAA", "signal_name": "go", "signal_category": "x" });
    let refused = ask(&server, "POST", path, &[], &signal.to_string()).await;
    assert_ne!(refused.status, StatusCode::UNAUTHORIZED, "{}", refused.body);
}

#[tokio::test]
async fn a_key_that_asks_too_often_is_told_when_to_come_back() {
    let server = keyless(Settings {
        requests_per_second_per_key: std::num::NonZeroU32::new(1),
        ..Settings::loopback()
    });
    assert_eq!(
        ask(&server, "GET", "/v1/executions", &[], "").await.status,
        StatusCode::OK
    );
    let refused = ask(&server, "GET", "/v1/executions", &[], "").await;
    assert_eq!(
        (refused.status, &refused.body["code"]),
        (StatusCode::TOO_MANY_REQUESTS, &json!("rate_limited"))
    );
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert_eq!(ask(&server, "GET", "/healthz", &[], "").await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_stream_holds_its_place_until_it_is_closed() {
    let server = keyless(Settings {
        streams_per_key_max: 1,
        parked_polls_per_key_max: 0,
        ..Settings::loopback()
    });
    let follow = || Request::get("/v1/events").body(Body::empty()).unwrap();
    let open = server.clone().oneshot(follow()).await.unwrap();
    assert_eq!(open.status(), StatusCode::OK);
    let refused = ask(&server, "GET", "/v1/events", &[], "").await;
    assert_eq!(
        (refused.status, &refused.body["code"]),
        (StatusCode::TOO_MANY_REQUESTS, &json!("too_many_streams"))
    );
    assert!(refused.header("retry-after").is_some());
    drop(open);
    assert_eq!(server.clone().oneshot(follow()).await.unwrap().status(), StatusCode::OK);
    let waits = json!({ "worker_id": "w", "lanes": ["default"], "wait_ms": 1000 }).to_string();
    let json = ("content-type", "application/json");
    let refused = ask(&server, "POST", "/v1/workers/w-1/tasks", &[json], &waits).await;
    assert_eq!(refused.body["code"], json!("too_many_streams"), "{}", refused.body);
}

#[tokio::test(start_paused = true)]
async fn a_body_that_does_not_come_is_not_waited_for() {
    let server = keyless(Settings::loopback());
    let never = Body::from_stream(futures::stream::pending::<Result<Vec<u8>, std::io::Error>>());
    let request = Request::post("/v1/executions").body(never).unwrap();
    let response = server.oneshot(request).await.unwrap();
    assert_eq!(response.status(), StatusCode::REQUEST_TIMEOUT);
}

#[tokio::test]
async fn a_key_says_who_asks_and_what_they_may() {
    let (server, engine, [reader, submitter]) = keyed([Role::Reader, Role::Submitter]).await;
    let submit = r#"{"execution_kind":"job"}"#;
    let json = ("content-type", "application/json");
    let by = |key| [("authorization", key), json];
    let refused = ask(&server, "POST", "/v1/executions", &by(reader.as_str()), submit).await;
    assert_eq!(
        (refused.status, &refused.body["code"]),
        (StatusCode::FORBIDDEN, &json!("forbidden"))
    );
    let created = ask(&server, "POST", "/v1/executions", &by(submitter.as_str()), submit).await;
    assert_eq!(created.status, StatusCode::CREATED, "{}", created.body);
    let listed = ask(&server, "GET", "/v1/executions", &by(reader.as_str()), "").await;
    assert_eq!(listed.body["items"].as_array().unwrap().len(), 1);
    let elsewhere = [
        ("authorization", reader.as_str()),
        ("host", "ff.example"),
        ("origin", "https://ff.example"),
    ];
    let listed = ask(&server, "GET", "/v1/executions", &elsewhere, "").await;
    assert_eq!(
        listed.status,
        StatusCode::OK,
        "with keys the name of the host does not matter"
    );

    let name = Identity::parse("reader").unwrap();
    engine.revoke_key(RevokeKey { name }).await.unwrap();
    let refused = ask(&server, "GET", "/v1/executions", &by(reader.as_str()), "").await;
    assert_eq!(refused.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn the_first_key_can_be_made_where_there_is_none_and_then_everybody_needs_one() {
    let server = keyless(Settings::loopback());
    let json = [("content-type", "application/json")];
    let made = ask(
        &server,
        "POST",
        "/v1/admin/keys",
        &json,
        r#"{"name":"me","role":"admin"}"#,
    )
    .await;
    assert_eq!(made.status, StatusCode::CREATED, "{}", made.body);
    let refused = ask(&server, "GET", "/v1/executions", &[], "").await;
    assert_eq!(refused.status, StatusCode::UNAUTHORIZED);
    let key = format!("Bearer {}", made.body["key"].as_str().unwrap());
    let listed = ask(&server, "GET", "/v1/executions", &[("authorization", &key)], "").await;
    assert_eq!(listed.status, StatusCode::OK);
}
