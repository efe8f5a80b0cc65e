//! What is refused because of limits, other callers, or the store.

use std::num::NonZeroU32;
use std::sync::Arc;

use async_trait::async_trait;
use axum::http::Method;
use ff_backend::layer::Layer;
use ff_backend::memory::MemoryBackend;
use ff_backend::transaction::{CommitError, Committed, Transaction};
use ff_backend::{Backend, Error};
use ff_core::error::Code;
use ff_core::time::Duration;
use ff_server::Settings;
use serde_json::json;

use super::book::{Book, delete, get, post};
use super::{one_partition, scene, with};
use crate::scene::{Scene, at, request};

const NOBODY: &str = "0190c5d4-7a6b-7c3d-8e9f-000000000009";

pub(super) async fn add_to(book: &mut Book) {
    things(book).await;
    limits(book).await;
    events(book).await;
    store(book).await;
}

async fn things(book: &mut Book) {
    let scene = scene();
    let submit = |policy| post("/v1/executions", json!({ "execution_kind": "job", "policy": policy }));
    let unknown = submit(json!({ "budget_ids": [NOBODY] }));
    book.add(Code::BudgetNotFound, "", &scene, unknown).await;
    let unknown = submit(json!({ "quota_policy_id": NOBODY }));
    book.add(Code::QuotaPolicyNotFound, "", &scene, unknown).await;
    book.add(Code::KeyNotFound, "", &scene, delete("/v1/admin/keys/dashboard"))
        .await;
}

async fn limits(book: &mut Book) {
    let scene = with(Settings {
        parked_polls_per_key_max: 0,
        ..Settings::loopback()
    });
    let id = scene.job("default", json!({})).await;
    let before = "On a server with `parked_polls_per_key_max` 0.";
    let wait = get(at(&id, "/wait?wait_ms=30000"));
    book.add(Code::TooManyStreams, before, &scene, wait).await;

    let scene = with(Settings {
        requests_per_second_per_key: NonZeroU32::new(1),
        ..Settings::loopback()
    });
    scene.get("/v1/executions").await;
    let before = "On a server with `requests_per_second_per_key` 1, and it is the second request of this second.";
    book.add(Code::RateLimited, before, &scene, get("/v1/executions")).await;
}

async fn events(book: &mut Book) {
    let scene = scene();
    scene.job("default", json!({})).await;
    let read = request(Method::GET, "/v1/events?from=oldest").header("accept", "application/json");
    let cursor = scene.send(read, "").await.json()["next"].as_str().unwrap().to_owned();
    for _ in 0..2 {
        scene.store.advance(Duration::from_hours(25));
        scene.job("default", json!({})).await;
    }
    let before = "Events are kept for 24 hours, and the cursor is two days old.";
    let read = get(format!("/v1/events?cursor={cursor}"));
    book.add(Code::CursorExpired, before, &scene, read).await;
}

async fn store(book: &mut Book) {
    for (code, fault, before) in [
        (
            Code::Contention,
            Fault::Taken,
            "Others write the same record all the time.",
        ),
        (Code::Unavailable, Fault::Down, "The store does not answer."),
        (
            Code::Internal,
            Fault::Broken,
            "Somebody has written into the store by hand.",
        ),
    ] {
        let around = |store| -> Arc<dyn Backend> { Arc::new(Faulty { store, fault }) };
        let scene = Scene::over(around, one_partition(), Settings::loopback());
        let ask = post("/v1/executions", json!({ "execution_kind": "job" }));
        book.add(code, before, &scene, ask).await;
    }

    let scene = scene();
    scene.engine.stop().await;
    let claim = json!({ "worker_id": "a", "lanes": ["default"], "wait_ms": 20_000 });
    let before = "The server was told to stop.";
    let claim = post("/v1/workers/a-1/tasks", claim);
    book.add(Code::ShuttingDown, before, &scene, claim).await;
}

/// What a store does with every transaction.
#[derive(Clone, Copy)]
enum Fault {
    Taken,
    Down,
    Broken,
}

struct Faulty {
    store: Arc<MemoryBackend>,
    fault: Fault,
}

#[async_trait]
impl Layer for Faulty {
    fn inner(&self) -> &dyn Backend {
        &*self.store
    }

    async fn commit(&self, batch: Vec<Transaction>) -> Vec<Result<Committed, CommitError>> {
        let refused = |transaction: &Transaction| match self.fault {
            Fault::Taken if !transaction.puts.is_empty() => CommitError::Conflict {
                key: transaction.puts[0].record.key(),
                found: None,
            },
            Fault::Taken | Fault::Down => Error::Unavailable("the connection was refused".to_owned()).into(),
            Fault::Broken => Error::Corrupt("a row is not JSON".to_owned()).into(),
        };
        batch.iter().map(|transaction| Err(refused(transaction))).collect()
    }
}
