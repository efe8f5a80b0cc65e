//! What a worker is refused.

use axum::http::Method;
use ff_core::error::Code;
use ff_core::limits::{FRAME_BYTES_MAX, STEPS_DEFAULT, STEPS_PER_CALL_MAX};
use ff_core::time::Duration;
use serde_json::{Value, json};

use super::book::{Book, post, put};
use super::scene;
use crate::scene::{Scene, at, request, under};

pub(super) async fn add_to(book: &mut Book) {
    fences(book).await;
    grants(book).await;
    workers(book).await;
    steps(book).await;
    frames(book).await;
}

fn complete(id: &str, fence: &Value) -> super::book::Ask {
    post(at(id, "/lease/complete"), under(fence, json!({ "result": 42 })))
}

async fn fences(book: &mut Book) {
    let scene = scene();
    let (id, _) = scene.held("none", json!({})).await;
    book.add(
        Code::FenceRequired,
        "",
        &scene,
        post(at(&id, "/lease/complete"), json!({ "result": 42 })),
    )
    .await;

    let (id, fence) = scene.held("ended", json!({})).await;
    scene.post(&at(&id, "/cancel"), json!({ "reason": "not needed" })).await;
    let before = "The execution was cancelled while the worker was at it.";
    book.add(Code::ExecutionNotActive, before, &scene, complete(&id, &fence))
        .await;

    let (id, fence) = scene.held("late", json!({})).await;
    scene.store.advance(Duration::from_secs(60));
    let before = "The worker stood still for a minute and did not renew.";
    book.add(Code::LeaseExpired, before, &scene, complete(&id, &fence))
        .await;

    let (id, first) = scene.held("stale", json!({})).await;
    let revoke = at(&id, "/revoke-lease");
    scene.post(&revoke, json!({})).await;
    let second = scene.taken("stale").await;
    let before = "An operator took the lease away, and another worker has the execution.";
    book.add(Code::LeaseRevoked, before, &scene, complete(&id, &first))
        .await;
    scene.post(&at(&id, "/lease/release"), second).await;
    scene.taken("stale").await;
    let before = "Two other workers have had the execution since this one lost its lease.";
    book.add(Code::StaleLease, before, &scene, complete(&id, &first)).await;
}

async fn grants(book: &mut Book) {
    let scene = scene();
    let redeem = |grant: &Value| {
        let grant = json!({ "grant": grant, "worker_id": "a", "worker_instance_id": "a-1" });
        post("/v1/grants/redeem", grant)
    };
    let granted = async |lane: &str| {
        scene.job(lane, json!({})).await;
        let claim = json!({ "worker_instance_id": "a-1", "lane": lane });
        scene.post("/v1/workers/a/claim", claim).await.json()["grant"].clone()
    };
    let grant = granted("cancelled").await;
    let id =
        crate::scene::in_path(&scene.get("/v1/executions?lane=cancelled").await.json()["items"][0]["execution_id"]);
    scene.post(&at(&id, "/cancel"), json!({ "reason": "not needed" })).await;
    let before = "The execution was cancelled meanwhile.";
    book.add(Code::InvalidClaimGrant, before, &scene, redeem(&grant)).await;

    let grant = granted("late").await;
    scene.store.advance(Duration::from_secs(60));
    let before = "The grant was for five seconds, and a minute has passed.";
    book.add(Code::ClaimGrantExpired, before, &scene, redeem(&grant)).await;
}

async fn workers(book: &mut Book) {
    let scene = scene();
    let beat = json!({ "incarnation": "0190c5d4-7a6b-7c3d-8e9f-000000000001" });
    book.add(
        Code::WorkerNotFound,
        "",
        &scene,
        post("/v1/workers/web-1/heartbeat", beat),
    )
    .await;

    let register = |incarnation: &str| json!({ "worker_id": "web", "incarnation": incarnation, "lanes": ["web"] });
    let first = register("0190c5d4-7a6b-7c3d-8e9f-000000000002").to_string();
    let web = request(Method::PUT, "/v1/workers/web-1").header("content-type", "application/json");
    scene.send(web, first).await;
    let second = put("/v1/workers/web-1", register("0190c5d4-7a6b-7c3d-8e9f-000000000001"));
    let before = "Another process has registered as `web-1`, and lives.";
    book.add(Code::DuplicateWorkerInstance, before, &scene, second).await;
}

async fn steps(book: &mut Book) {
    let scene = scene();
    let record =
        |id: &str, fence: &Value, steps: Vec<Value>| (at(id, "/lease/steps"), under(fence, json!({ "steps": steps })));
    let (id, fence) = scene.held("one", json!({})).await;
    let (path, body) = record(&id, &fence, vec![json!({ "key": "llm#0", "output": "Paris" })]);
    scene.post(&path, body).await;
    let (path, body) = record(&id, &fence, vec![json!({ "key": "llm#0", "output": "London" })]);
    let before = "`llm#0` was recorded with the output \"Paris\".";
    book.add(Code::StepConflict, before, &scene, post(path, body)).await;

    let (id, fence) = scene.held("many", json!({})).await;
    let steps: Vec<_> = (0..STEPS_DEFAULT)
        .map(|n| json!({ "key": format!("page#{n}") }))
        .collect();
    for part in steps.chunks(STEPS_PER_CALL_MAX) {
        let (path, body) = record(&id, &fence, part.to_vec());
        assert!(scene.post(&path, body).await.status.is_success());
    }
    let (path, body) = record(&id, &fence, vec![json!({ "key": "page#10000" })]);
    book.add(
        Code::StepLimitExceeded,
        "10,000 steps are recorded.",
        &scene,
        post(path, body),
    )
    .await;
}

async fn frames(book: &mut Book) {
    let scene = scene();
    let append = |id: &str, fence: &Value, payload: &str| {
        post(
            at(id, "/lease/frames"),
            under(fence, json!({ "frame_type": "log", "payload": payload })),
        )
    };
    let (id, first) = lost(&scene).await;
    let before = "The lease was released, and another worker has the execution.";
    book.add(
        Code::StaleOwnerCannotAppend,
        before,
        &scene,
        append(&id, &first, "hello"),
    )
    .await;

    let (id, fence) = scene.held("large", json!({})).await;
    let large = append(&id, &fence, &"x".repeat(FRAME_BYTES_MAX));
    book.add(
        Code::FrameTooLarge,
        "The payload has 65,538 bytes of JSON.",
        &scene,
        large,
    )
    .await;
    scene.post(&at(&id, "/lease/complete"), fence.clone()).await;
    let before = "The execution was completed.";
    book.add(Code::StreamClosed, before, &scene, append(&id, &fence, "late"))
        .await;
}

/// An execution that another worker has now, in the same attempt, and the fence of the first one.
async fn lost(scene: &Scene) -> (String, Value) {
    let (id, first) = scene.held("released", json!({})).await;
    scene.post(&at(&id, "/lease/release"), first.clone()).await;
    scene.taken("released").await;
    (id, first)
}
