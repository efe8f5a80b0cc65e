use axum::http::{Method, StatusCode};
use ff_core::time::Duration;
use ff_core::token::Callback;
use serde_json::{Value, json};

use crate::scene::{Answer, Scene, in_path, request, under};

/// A suspended execution, and the path of its callback.
async fn waiting(scene: &Scene) -> (String, String) {
    let id = scene.submitted().await;
    let (_, fence) = scene.claimed().await;
    let suspend = json!({
        "waitpoints": [{ "fresh": { "waitpoint_key": "paid" } }],
        "resume_condition": { "single": { "waitpoint_key": "paid", "matcher": { "by_name": "callback" } } },
        "reason_code": "waiting_for_callback",
    });
    let suspended = scene
        .post(&format!("/v1/executions/{id}/lease/suspend"), under(&fence, suspend))
        .await
        .json();
    let path = suspended["waitpoints"][0]["callback_path"].as_str().unwrap().to_owned();
    (id, path)
}

async fn call(scene: &Scene, path: &str, body: &'static str) -> Answer {
    scene.send(request(Method::POST, path), body).await
}

async fn signals(scene: &Scene, id: &str) -> Vec<Value> {
    scene.get(&format!("/v1/executions/{id}/signals")).await.json()["items"]
        .as_array()
        .unwrap()
        .clone()
}

#[tokio::test]
async fn whatever_is_posted_is_the_payload_of_a_signal() {
    let scene = Scene::new();
    let (id, path) = waiting(&scene).await;
    let answer = call(&scene, &path, r#"{"paid":true}"#).await;
    assert_eq!((answer.status, answer.body.len()), (StatusCode::ACCEPTED, 0));
    assert_eq!(answer.header("referrer-policy"), "no-referrer");
    let (task, _) = scene.claimed().await;
    assert_eq!(in_path(&task["execution_id"]), id);
    let signal = &task["resumed"]["signals"][0];
    assert_eq!(
        (&signal["name"], &signal["payload"]),
        (&json!("callback"), &json!({ "paid": true })),
        "{task}"
    );
}

#[tokio::test]
async fn a_repetition_is_taken_and_does_nothing() {
    let scene = Scene::new();
    let (id, path) = waiting(&scene).await;
    for _ in 0..2 {
        assert_eq!(call(&scene, &path, "x").await.status, StatusCode::ACCEPTED);
    }
    assert_eq!(signals(&scene, &id).await.len(), 1);
}

#[tokio::test]
async fn a_sender_tells_deliveries_apart_by_their_id() {
    let scene = Scene::new();
    let id = scene.submitted().await;
    let (_, fence) = scene.claimed().await;
    let hand_out = under(&fence, json!({ "waitpoint_key": "w", "expires_in_ms": 60_000 }));
    let issued = scene
        .post(&format!("/v1/executions/{id}/lease/waitpoints"), hand_out)
        .await
        .json();
    let path = issued["callback_path"].as_str().unwrap();
    for (header, delivery) in [
        ("webhook-id", "1"),
        ("webhook-id", "1"),
        ("webhook-id", "2"),
        ("idempotency-key", "1"),
    ] {
        let sent = scene
            .send(request(Method::POST, path).header(header, delivery), "same")
            .await;
        assert_eq!(sent.status, StatusCode::ACCEPTED);
    }
    assert_eq!(signals(&scene, &id).await.len(), 3);
}

#[tokio::test]
async fn only_post_acts_and_only_the_whole_path_opens() {
    let scene = Scene::new();
    let (id, path) = waiting(&scene).await;
    for method in [Method::GET, Method::HEAD, Method::PUT] {
        let answer = scene.send(request(method, &path), "").await;
        assert_eq!(answer.status, StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(answer.header("referrer-policy"), "no-referrer");
    }
    let (other, _) = waiting(&scene).await;
    assert_ne!(id, other);
    let cut = &path[..path.len() - 4];
    let mut tampered = path.clone().into_bytes();
    let last = tampered.len() - 8;
    tampered[last] = if tampered[last] == b'A' { b'B' } else { b'A' };
    let tampered = String::from_utf8(tampered).unwrap();
    for bad in [
        cut,
        &tampered,
        "/v1/callbacks/x",
        "/v1/callbacks/____________________________________________________",
    ] {
        assert_eq!(
            call(&scene, bad, "x").await.code(),
            (403, "invalid_token".into()),
            "{bad}"
        );
    }
    assert_eq!(signals(&scene, &id).await.len(), 0);
}

#[tokio::test]
async fn a_callback_is_closed_once_nobody_waits() {
    let scene = Scene::new();
    let (id, path) = waiting(&scene).await;
    scene
        .post(&format!("/v1/executions/{id}/cancel"), json!({ "reason": "enough" }))
        .await;
    assert_eq!(
        call(&scene, &path, "late").await.code(),
        (410, "callback_closed".into())
    );
}

#[tokio::test]
async fn a_callback_has_at_most_256_kib() {
    let scene = Scene::new();
    let (_, path) = waiting(&scene).await;
    let post = |bytes: usize| scene.send(request(Method::POST, &path), vec![b'x'; bytes]);
    assert_eq!(post(256 * 1024 + 1).await.code(), (413, "payload_too_large".into()));
    assert_eq!(post(256 * 1024).await.status, StatusCode::ACCEPTED);
}

#[tokio::test]
async fn a_callback_opens_its_own_waitpoint_and_no_other() {
    let scene = Scene::new();
    let (one, first) = waiting(&scene).await;
    let (other, second) = waiting(&scene).await;
    let sealed = |path: &str| {
        let sealed = path.rsplit('/').next().unwrap();
        Callback::open(sealed).unwrap()
    };
    let (first, second) = (sealed(&first), sealed(&second));
    // The token of one waitpoint with the ids of another, in every mixture.
    for (execution_id, waitpoint_id, token) in [
        (first.execution_id, first.waitpoint_id, &second.token),
        (first.execution_id, second.waitpoint_id, &first.token),
        (second.execution_id, first.waitpoint_id, &first.token),
        (second.execution_id, second.waitpoint_id, &first.token),
    ] {
        let mixed = Callback {
            execution_id,
            waitpoint_id,
            token: token.clone(),
        };
        let path = mixed.path();
        assert_eq!(
            call(&scene, path.expose(), "x").await.code(),
            (403, "invalid_token".into())
        );
    }
    for id in [one, other] {
        assert_eq!(signals(&scene, &id).await.len(), 0);
    }
}

#[tokio::test]
async fn a_callback_ends_with_its_time() {
    let scene = Scene::new();
    let id = scene.submitted().await;
    let (_, fence) = scene.claimed().await;
    let hand_out = under(&fence, json!({ "waitpoint_key": "w", "expires_in_ms": 1000 }));
    let path = format!("/v1/executions/{id}/lease/waitpoints");
    let issued = scene.post(&path, hand_out).await.json();
    scene.store.advance(Duration::from_secs(60));
    let path = issued["callback_path"].as_str().unwrap();
    assert_eq!(call(&scene, path, "late").await.code(), (410, "callback_closed".into()));
    assert_eq!(signals(&scene, &id).await.len(), 0);
}

#[tokio::test]
async fn a_callback_is_worth_nothing_once_its_key_is() {
    let scene = Scene::new();
    let (id, path) = waiting(&scene).await;
    let rotate = |kid: &str, compromised: bool| {
        let secret = kid.repeat(32);
        let rotation = json!({
            "new_kid": kid, "new_secret_hex": secret, "grace_ms": 3_600_000, "compromised": compromised,
        });
        let body = rotation.to_string();
        let asked = request(Method::POST, "/v1/admin/rotate-waitpoint-secret");
        scene.send(asked.header("content-type", "application/json"), body)
    };
    assert_eq!(rotate("aa", false).await.status, StatusCode::OK);
    let (other, in_grace) = waiting(&scene).await;
    assert_eq!(
        call(&scene, &path, "x").await.status,
        StatusCode::ACCEPTED,
        "its key is in its grace"
    );
    assert_eq!(rotate("bb", true).await.status, StatusCode::OK);
    assert_eq!(call(&scene, &in_grace, "x").await.code(), (403, "invalid_token".into()));
    assert_eq!(
        (signals(&scene, &id).await.len(), signals(&scene, &other).await.len()),
        (1, 0)
    );
}
