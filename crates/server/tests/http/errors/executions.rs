//! What an execution refuses in the state it is in.

use axum::http::Method;
use ff_core::error::Code;
use ff_core::limits::QUEUES_MAX;
use ff_core::time::Duration;
use ff_server::Settings;
use serde_json::{Value, json};

use super::book::{Book, get, post};
use super::{one_partition, scene};
use crate::scene::{Scene, at, request, under};

pub(super) async fn add_to(book: &mut Book) {
    unknown(book).await;
    submissions(book).await;
    states(book).await;
    takeovers(book).await;
}

async fn unknown(book: &mut Book) {
    let scene = scene();
    let (id, _) = scene.held("default", json!({})).await;
    let nobody = "fp:0:0190c5d4-7a6b-7c3d-8e9f-000000000001";
    let ended = "The execution is still running.";
    for (code, before, path) in [
        (Code::ExecutionNotFound, "", at(nobody, "")),
        (Code::ResultNotAvailable, ended, at(&id, "/result")),
        (
            Code::AttemptNotFound,
            "It is in its first attempt, which is number 0.",
            at(&id, "/attempts/3/stream"),
        ),
        (Code::StepNotFound, "Nothing was recorded.", at(&id, "/steps/7/output")),
    ] {
        book.add(code, before, &scene, get(path)).await;
    }
}

async fn submissions(book: &mut Book) {
    let scene = scene();
    let id = scene.job("default", json!({})).await;
    let taken = post(
        "/v1/executions",
        json!({ "execution_id": id, "execution_kind": "other" }),
    );
    let before = "There is an execution of the kind `job` under this id.";
    book.add(Code::AlreadyExists, before, &scene, taken).await;

    let drain = request(Method::PUT, "/v1/lanes/web/state").header("content-type", "application/json");
    scene.send(drain, r#"{"state":"draining"}"#).await;
    let submit = post("/v1/executions", json!({ "execution_kind": "job", "lane_id": "web" }));
    book.add(
        Code::LaneNotAccepting,
        "The state of the lane is `draining`.",
        &scene,
        submit,
    )
    .await;

    let requiring = |n: usize| {
        let policy = json!({ "routing_requirements": { "required_capabilities": [format!("customer-{n}")] } });
        json!({ "execution_kind": "job", "lane_id": "gpu", "policy": policy })
    };
    for part in [0..QUEUES_MAX / 2, QUEUES_MAX / 2..QUEUES_MAX] {
        let executions: Vec<_> = part.map(requiring).collect();
        scene
            .post("/v1/executions/batch", json!({ "executions": executions }))
            .await;
    }
    let before = "In this partition of the lane, work with 1,024 other sets of requirements is waiting.";
    let submit = post("/v1/executions", requiring(QUEUES_MAX));
    book.add(Code::TooManySignatures, before, &scene, submit).await;
}

async fn states(book: &mut Book) {
    let scene = scene();
    let id = scene.job("default", json!({})).await;
    for (code, operation) in [
        (Code::ExecutionNotTerminal, "/replay"),
        (Code::ExecutionNotSuspended, "/resume"),
        (Code::NoActiveLease, "/revoke-lease"),
    ] {
        let before = "The execution waits for a worker.";
        book.add(code, before, &scene, post(at(&id, operation), json!({})))
            .await;
    }

    let (id, fence) = scene.held("once", json!({ "policy": { "max_replay_count": 0 } })).await;
    scene.post(&at(&id, "/lease/complete"), fence).await;
    let before = "The execution was submitted with `max_replay_count` 0, and has ended.";
    let replay = post(at(&id, "/replay"), json!({}));
    book.add(Code::MaxReplaysExhausted, before, &scene, replay).await;
}

/// Another worker is to have it.
async fn takeovers(book: &mut Book) {
    let to = |id: &str| {
        post(
            at(id, "/reclaim"),
            json!({ "worker_id": "b", "worker_instance_id": "b-1" }),
        )
    };
    let scene = scene();
    let (id, _) = scene.held("default", json!({})).await;
    let before = "A worker has the execution.";
    book.add(Code::ExecutionNotReclaimable, before, &scene, to(&id)).await;

    let (id, _) = scene.held("lost", json!({})).await;
    scene.post(&at(&id, "/revoke-lease"), json!({})).await;
    scene.post(&at(&id, "/hold"), json!({})).await;
    let before = "The lease was revoked, and an operator holds the execution.";
    book.add(Code::ExecutionNotEligible, before, &scene, to(&id)).await;

    let policy = json!({ "routing_requirements": { "required_capabilities": ["gpu"] } });
    let id = scene.job("gpu", json!({ "policy": policy })).await;
    let claim = json!({ "worker_id": "a", "lanes": ["gpu"], "capabilities": ["gpu"] });
    scene.post("/v1/workers/a-1/tasks", claim).await;
    scene.post(&at(&id, "/revoke-lease"), json!({})).await;
    let before = "The execution requires `gpu`, and its lease was revoked.";
    book.add(Code::CapabilityMismatch, before, &scene, to(&id)).await;

    let scene = patient();
    let (id, fence) = scene
        .held("default", json!({ "policy": { "max_reclaim_count": 0 } }))
        .await;
    scene
        .post(&at(&id, "/lease/renew"), under(&fence, json!({ "ttl_ms": 1_000 })))
        .await;
    scene.store.advance(Duration::from_secs(30));
    let before = "On a server with a `reclaim_grace_ms`. The execution was submitted with `max_reclaim_count` 0, its lease has expired, \
                  and the grace is not over.";
    book.add(Code::MaxReclaimsExceeded, before, &scene, to(&id)).await;
}

/// An expired lease waits for an hour before the execution goes back.
fn patient() -> Scene {
    let mut config = one_partition();
    config.rules.reclaim_grace = Duration::from_hours(1);
    Scene::over(|store| store, config, Settings::loopback())
}

impl Scene {
    /// The id of a new execution in a lane, as it stands in a path.
    pub(super) async fn job(&self, lane: &str, more: Value) -> String {
        let job = under(&more, json!({ "execution_kind": "job", "lane_id": lane }));
        let created = self.post("/v1/executions", job).await.json();
        crate::scene::in_path(&created["execution_id"])
    }

    /// A new execution in a lane that a worker has, and its fence.
    pub(super) async fn held(&self, lane: &str, more: Value) -> (String, Value) {
        let id = self.job(lane, more).await;
        (id, self.taken(lane).await)
    }

    /// The fence of the next task of a lane.
    pub(super) async fn taken(&self, lane: &str) -> Value {
        let claim = json!({ "worker_id": "a", "lanes": [lane] });
        let claimed = self.post("/v1/workers/a-1/tasks", claim).await.json();
        let task = &claimed["tasks"][0];
        json!({ "lease_id": task["lease_id"], "lease_epoch": task["lease_epoch"], "attempt_id": task["attempt_id"] })
    }
}
