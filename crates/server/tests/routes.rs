//! The routes over an engine in memory: what a client sends and what it reads.

#![expect(clippy::unwrap_used, reason = "a test that cannot set its scene has failed")]

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use ff_backend::memory::MemoryBackend;
use ff_core::partition::PartitionCounts;
use ff_core::time::Timestamp;
use ff_engine::{Config, Engine, TokioHost};
use ff_server::Settings;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;

fn server() -> Router {
    let counts = PartitionCounts::default();
    let store = Arc::new(MemoryBackend::new(Timestamp::from_millis(1_800_000_000_000), counts));
    let engine = Engine::new(store, Arc::new(TokioHost::new()), Config::new(counts));
    ff_server::router(engine, Settings::loopback())
}

async fn send(server: &Router, request: Request<Body>) -> (StatusCode, Value) {
    let response = server.clone().oneshot(request).await.unwrap();
    let status = response.status();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, serde_json::from_slice(&body).unwrap_or(Value::Null))
}

async fn post(server: &Router, path: &str, body: Value) -> (StatusCode, Value) {
    let request = Request::post(path)
        .header("host", "localhost:7117")
        .header("content-type", "application/json");
    send(server, request.body(Body::from(body.to_string())).unwrap()).await
}

async fn get(server: &Router, path: &str) -> (StatusCode, Value) {
    let request = Request::get(path).header("host", "127.0.0.1");
    send(server, request.body(Body::empty()).unwrap()).await
}

fn encoded(id: &Value) -> String {
    id.as_str().unwrap().replace('{', "%7B").replace('}', "%7D")
}

#[tokio::test]
async fn an_execution_is_submitted_claimed_renewed_and_completed() {
    let server = server();
    let (status, created) = post(
        &server,
        "/v1/executions",
        json!({ "execution_kind": "job", "input": { "n": 1 } }),
    )
    .await;
    assert_eq!((status, &created["status"]), (StatusCode::CREATED, &json!("created")));
    let path = format!("/v1/executions/{}", encoded(&created["execution_id"]));

    let claim = json!({ "worker_instance_id": "me-1" });
    let (status, granted) = post(&server, "/v1/workers/me/claim", claim.clone()).await;
    assert_eq!(
        (status, &granted["execution_id"]),
        (StatusCode::OK, &created["execution_id"])
    );
    let (status, _) = post(&server, "/v1/workers/me/claim", claim).await;
    assert_eq!(status, StatusCode::NO_CONTENT, "nothing else is there");

    let redeem = json!({ "grant": granted["grant"], "worker_id": "me", "worker_instance_id": "me-1" });
    let (_, task) = post(&server, "/v1/grants/redeem", redeem).await;
    assert_eq!(task["input"], json!({ "n": 1 }));
    let mut fence = json!({
        "lease_id": task["lease_id"], "lease_epoch": task["lease_epoch"], "attempt_id": task["attempt_id"],
    });
    let (status, renewed) = post(&server, &format!("{path}/lease/renew"), fence.clone()).await;
    assert_eq!((status, renewed["expires_at"].is_u64()), (StatusCode::OK, true));
    fence["result"] = json!({ "ok": true });
    let complete = format!("{path}/lease/complete");
    assert_eq!(
        post(&server, &complete, fence.clone()).await.1,
        json!({ "status": "completed" })
    );
    assert_eq!(
        post(&server, &complete, fence).await.1,
        json!({ "status": "completed", "repeated": true })
    );
    let (_, view) = get(&server, &path).await;
    assert_eq!(
        (&view["public_state"], &view["attempt_count"]),
        (&json!("completed"), &json!(1))
    );
}

#[tokio::test]
async fn numbers_keep_every_digit_and_bytes_every_bit() {
    let server = server();
    let exact = r#"{"execution_kind":"job","input":12345678901234567890.5}"#;
    let json = "application/json";
    let request = Request::post("/v1/executions").header("content-type", json);
    let request = request.body(Body::from(exact)).unwrap();
    send(&server, request).await;
    let base64 = json!({ "execution_kind": "job", "input_base64": "AP8=" });
    post(&server, "/v1/executions", base64).await;
    let mut told = String::new();
    for _ in 0..2 {
        let (_, granted) = post(&server, "/v1/workers/me/claim", json!({ "worker_instance_id": "me-1" })).await;
        let redeem = json!({ "grant": granted["grant"], "worker_id": "me", "worker_instance_id": "me-1" });
        let request = Request::post("/v1/grants/redeem")
            .header("content-type", json)
            .body(Body::from(redeem.to_string()))
            .unwrap();
        let response = server.clone().oneshot(request).await.unwrap();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        told += std::str::from_utf8(&body).unwrap();
    }
    assert!(told.contains(r#""input":12345678901234567890.5"#), "{told}");
    assert!(told.contains(r#""input_base64":"AP8=""#), "{told}");
}

#[tokio::test]
async fn a_refusal_is_a_problem_document() {
    let server = server();
    let (status, problem) = post(&server, "/v1/executions", json!({ "execution_kind": "job", "nope": 1 })).await;
    assert_eq!(
        (status, &problem["code"]),
        (StatusCode::BAD_REQUEST, &json!("invalid_input"))
    );
    assert_eq!(problem["errors"][0]["pointer"], json!("/nope"));
    let unknown = "/v1/executions/%7Bfp:1%7D:0190c5d4-7a6b-7c3d-8e9f-a0b1c2d3e4f5";
    let (status, problem) = get(&server, unknown).await;
    assert_eq!(
        (status, &problem["code"]),
        (StatusCode::NOT_FOUND, &json!("execution_not_found"))
    );
    assert_eq!(
        get(&server, "/v1/executions/nonsense").await.1["code"],
        json!("invalid_id")
    );
    assert_eq!(get(&server, "/nowhere").await.1["code"], json!("not_found"));
    assert_eq!(
        get(&server, "/v1/grants/redeem").await.1["code"],
        json!("method_not_allowed")
    );
    let (_, problem) = post(&server, &format!("{unknown}/lease/complete"), json!({})).await;
    assert_eq!(problem["retryable"], json!(false));
}

#[tokio::test]
async fn a_page_of_another_host_is_refused() {
    let server = server();
    for (name, value) in [("host", "evil.example"), ("origin", "https://evil.example")] {
        let request = Request::get("/healthz")
            .header(name, value)
            .body(Body::empty())
            .unwrap();
        assert_eq!(send(&server, request).await.0, StatusCode::FORBIDDEN);
    }
    assert_eq!(get(&server, "/healthz").await.0, StatusCode::OK);
}

#[tokio::test]
async fn events_are_told_with_a_cursor_to_go_on_from() {
    let server = server();
    post(&server, "/v1/executions", json!({ "execution_kind": "job" })).await;
    let request = Request::get("/v1/events?kind=job&from=oldest");
    let request = request.body(Body::empty()).unwrap();
    let mut body = server.clone().oneshot(request).await.unwrap().into_body();
    let mut told = String::new();
    while !told.contains("event: ") {
        let frame = body.frame().await.unwrap().unwrap().into_data().unwrap();
        told.push_str(std::str::from_utf8(&frame).unwrap());
    }
    assert!(told.contains("event: created") && told.contains("id: "), "{told}");
    let (status, problem) = get(&server, "/v1/events?cursor=garbage").await;
    assert_eq!(
        (status, &problem["code"]),
        (StatusCode::BAD_REQUEST, &json!("invalid_cursor"))
    );
}
