//! An overview as it changes.

use std::time::Duration;

use axum::body::Body;
use axum::http::{Method, StatusCode};
use http_body_util::BodyExt;
use serde_json::{Value, json};

use crate::scene::{Scene, request};

/// The next message of a stream.
async fn next(body: &mut Body) -> (String, Value) {
    let mut told = String::new();
    while !told.ends_with("\n\n") || told.starts_with(':') {
        if told.starts_with(':') {
            told.clear();
        }
        let frame = tokio::time::timeout(Duration::from_secs(10), body.frame()).await;
        let frame = frame.expect("a message comes").unwrap().unwrap();
        told.push_str(std::str::from_utf8(frame.data_ref().unwrap()).unwrap());
    }
    let of = |name: &str| {
        let line = told.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap_or_default().to_owned()
    };
    (of("event: "), serde_json::from_str(&of("data: ")).unwrap())
}

#[tokio::test]
async fn who_follows_an_overview_is_told_at_once_and_whenever_it_is_another_one() {
    let scene = Scene::new();
    let follow = request(Method::GET, "/v1/overview").header("accept", "text/event-stream");
    let response = scene.open(follow.body(Body::empty()).unwrap()).await;
    assert_eq!(response.status(), StatusCode::OK);
    let mut body = response.into_body();
    let (event, first) = next(&mut body).await;
    assert_eq!((event.as_str(), &first["states"]), ("overview", &json!({})));
    scene.submitted().await;
    let (event, second) = next(&mut body).await;
    assert_eq!(
        (event.as_str(), &second["states"]),
        ("overview", &json!({ "waiting": 1 }))
    );
    assert_eq!(second["lanes"][0]["lane_id"], json!("default"));
    assert_eq!(second["lanes"][0]["problems"], json!(["no_worker"]));
    assert_eq!(second["attention"][0]["code"], json!("no_worker"));
    assert_eq!(second["minute"]["of"], json!("all"));
}

#[tokio::test]
async fn an_overview_and_series_are_documents_too() {
    let scene = Scene::new();
    scene.submitted().await;
    for accepted in ["application/json", "*/*"] {
        let asked = request(Method::GET, "/v1/overview?namespace=default").header("accept", accepted);
        let overview = scene.send(asked, Body::empty()).await;
        assert_eq!(overview.header("content-type"), "application/json", "{accepted}");
        assert_eq!(overview.json()["states"], json!({ "waiting": 1 }));
    }
    let series = scene
        .get("/v1/series?of=all&of=lane:default&step_ms=60000")
        .await
        .json();
    assert_eq!(series["series"][1]["of"], json!("lane:default"));
    let submitted = series["series"][0]["submitted"].as_array().unwrap();
    assert_eq!(submitted.iter().filter_map(Value::as_u64).sum::<u64>(), 1);
    for bad in ["of=queue:a", "step_ms=1", "step_ms=x", "nope=1"] {
        let refused = scene.get(&format!("/v1/series?{bad}")).await;
        assert_eq!(refused.code(), (400, "invalid_input".into()), "{bad}");
    }
    for bad in ["/v1/overview?nope=1", "/v1/overview?namespace="] {
        assert_eq!(scene.get(bad).await.status, StatusCode::BAD_REQUEST, "{bad}");
    }
}
