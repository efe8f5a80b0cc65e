//! What is refused of suspensions, waitpoints, signals and the keys that sign them.

use ff_core::error::Code;
use ff_core::time::Duration;
use serde_json::{Value, json};

use super::book::{Ask, Book, get, post};
use super::scene;
use crate::scene::{Scene, at, under};

const SECRETS: [&str; 2] = [
    "a11cea11cea11cea11cea11cea11cea11cea11cea11cea11cea11cea11cea11c",
    "b0bb0bb0bb0bb0bb0bb0bb0bb0bb0bb0bb0bb0bb0bb0bb0bb0bb0bb0bb0bb0bb",
];

pub(super) async fn add_to(book: &mut Book) {
    suspensions(book).await;
    waitpoints(book).await;
    deliveries(book).await;
    keys(book).await;
}

fn suspend(key: &str) -> Value {
    json!({
        "waitpoints": [{ "fresh": { "waitpoint_key": "review" } }],
        "resume_condition": { "single": { "waitpoint_key": key, "matcher": "any" } },
        "reason_code": "waiting_for_approval",
    })
}

/// An execution that waits at `review`, and that waitpoint.
async fn waiting(scene: &Scene, lane: &str, more: Value) -> (String, Value) {
    let (id, fence) = scene.held(lane, more).await;
    let suspended = scene
        .post(&at(&id, "/lease/suspend"), under(&fence, suspend("review")))
        .await
        .json();
    (id, suspended["waitpoints"][0].clone())
}

/// A waitpoint that is handed out before the suspension.
async fn pending(scene: &Scene, id: &str, fence: &Value) -> Value {
    let hand_out = json!({ "waitpoint_key": "paid", "expires_in_ms": 60_000 });
    scene
        .post(&at(id, "/lease/waitpoints"), under(fence, hand_out))
        .await
        .json()
}

fn signal(id: &str, waitpoint: &Value) -> Ask {
    let (of, token) = (&waitpoint["waitpoint_id"], &waitpoint["waitpoint_token"]);
    post(
        at(id, "/signal"),
        json!({ "waitpoint_id": of, "waitpoint_token": token, "signal_name": "approved" }),
    )
}

async fn suspensions(book: &mut Book) {
    let scene = scene();
    let (id, fence) = scene.held("wrong", json!({})).await;
    let path = at(&id, "/lease/suspend");
    let ask = post(path, under(&fence, suspend("approval")));
    book.add(Code::InvalidCondition, "", &scene, ask).await;

    let (id, fence) = scene.held("twice", json!({})).await;
    let path = at(&id, "/lease/suspend");
    let keyed = |key| under(&json!({ "idempotency_key": key }), under(&fence, suspend("review")));
    scene.post(&path, keyed("first")).await;
    let before = "This lease was given up by a suspend with the key `first`.";
    book.add(Code::AlreadySuspended, before, &scene, post(path, keyed("second")))
        .await;
}

async fn waitpoints(book: &mut Book) {
    let scene = scene();
    let (id, fence) = scene.held("default", json!({})).await;
    let nowhere = at(&id, "/waitpoints/0190c5d4-7a6b-7c3d-8e9f-000000000009/token");
    book.add(Code::WaitpointNotFound, "", &scene, get(nowhere)).await;

    let handed_out = pending(&scene, &id, &fence).await;
    let again = json!({
        "waitpoint_key": "another", "expires_in_ms": 60_000, "waitpoint_id": handed_out["waitpoint_id"],
    });
    let again = post(at(&id, "/lease/waitpoints"), under(&fence, again));
    let before = "The execution has a waitpoint of this id.";
    book.add(Code::WaitpointAlreadyExists, before, &scene, again).await;

    let renew = under(&fence, json!({ "ttl_ms": 3_600_000 }));
    scene.post(&at(&id, "/lease/renew"), renew).await;
    scene.store.advance(Duration::from_secs(120));
    let mut late = suspend("paid");
    late["waitpoints"] = json!([{ "use_pending": { "waitpoint_id": handed_out["waitpoint_id"] } }]);
    let before = "The waitpoint was handed out for a minute, two minutes ago.";
    let late = post(at(&id, "/lease/suspend"), under(&fence, late));
    book.add(Code::PendingWaitpointExpired, before, &scene, late).await;
}

async fn deliveries(book: &mut Book) {
    let scene = scene();
    let (id, waitpoint) = waiting(&scene, "wrong", json!({})).await;
    let (_, other) = waiting(&scene, "wrong", json!({})).await;
    let mut wrong = waitpoint.clone();
    wrong["waitpoint_token"] = other["waitpoint_token"].clone();
    let before = "The token is that of another waitpoint.";
    book.add(Code::InvalidToken, before, &scene, signal(&id, &wrong)).await;

    scene.post(&at(&id, "/resume"), json!({})).await;
    let before = "An operator has resumed the execution.";
    book.add(Code::WaitpointClosed, before, &scene, signal(&id, &waitpoint))
        .await;

    let (id, waitpoint) = waiting(&scene, "few", json!({ "policy": { "max_signals_per_execution": 0 } })).await;
    let before = "The execution was submitted with `max_signals_per_execution` 0.";
    book.add(Code::SignalLimitExceeded, before, &scene, signal(&id, &waitpoint))
        .await;

    let (id, waitpoint) = waiting(&scene, "ended", json!({})).await;
    scene.post(&at(&id, "/cancel"), json!({ "reason": "not needed" })).await;
    let before = "The execution was cancelled.";
    book.add(Code::TargetNotSignalable, before, &scene, signal(&id, &waitpoint))
        .await;
    let callback = post(waitpoint["callback_path"].as_str().unwrap(), json!({ "paid": true }));
    book.add(Code::CallbackClosed, before, &scene, callback).await;
}

async fn keys(book: &mut Book) {
    let scene = scene();
    let rotate = |secret| json!({ "new_kid": "2026-11", "new_secret_hex": secret });
    let path = "/v1/admin/rotate-waitpoint-secret";
    scene.post(path, rotate(SECRETS[0])).await;
    let before = "The key `2026-11` has another secret.";
    book.add(Code::RotationConflict, before, &scene, post(path, rotate(SECRETS[1])))
        .await;
}
