//! What is refused before anything is looked at.

use axum::body::Body;
use ff_core::caller::Role;
use ff_core::command::key::CreateKey;
use ff_core::error::Code;
use ff_core::fabric::Fabric;
use ff_core::limits::{BATCH_ITEMS_MAX, PAYLOAD_BYTES_DEFAULT};
use ff_core::name::Identity;
use ff_server::Settings;
use serde_json::json;

use super::book::{Book, delete, get, post};
use super::{scene, with};
use crate::scene::under;

const SECRET: &str = "a11cea11cea11cea11cea11cea11cea11cea11cea11cea11cea11cea11cea11c";

pub(super) async fn add_to(book: &mut Book) {
    contents(book).await;
    sizes_and_forms(book).await;
    callers(book).await;
}

async fn contents(book: &mut Book) {
    let scene = scene();
    let submit = |more| post("/v1/executions", under(&more, json!({ "execution_kind": "job" })));
    let nowhere = "/v1/executions/0190c5d4-7a6b-7c3d-8e9f-000000000001";
    let claim = json!({ "worker_id": "gpu", "lanes": ["default"], "capabilities": ["gpu a100"] });
    let rotate = |kid, secret| {
        let rotation = json!({ "new_kid": kid, "new_secret_hex": secret });
        post("/v1/admin/rotate-waitpoint-secret", rotation)
    };
    for (code, ask) in [
        (Code::InvalidInput, submit(json!({ "priority": 9001 }))),
        (Code::InvalidPolicy, submit(json!({ "policy": { "retries": 3 } }))),
        (Code::InvalidTagKey, submit(json!({ "tags": { "Tenant": "a" } }))),
        (Code::InvalidId, get(nowhere)),
        (Code::InvalidCapabilities, post("/v1/workers/gpu-1/tasks", claim)),
        (Code::InvalidCursor, get("/v1/executions?cursor=page-2")),
        (Code::InvalidKid, rotate("2026:11", SECRET)),
        (Code::InvalidSecretHex, rotate("2026-11", "cafe")),
        (Code::NotFound, get("/v1/execution")),
        (Code::MethodNotAllowed, delete("/v1/lanes")),
    ] {
        book.add(code, "", &scene, ask).await;
    }
}

async fn sizes_and_forms(book: &mut Book) {
    let scene = scene();
    let job = json!({ "execution_kind": "job" });
    let form = post("/v1/executions", job.clone()).with("Content-Type", "text/plain");
    book.add(Code::UnsupportedMediaType, "", &scene, form).await;

    let large = json!({ "execution_kind": "job", "input": "x".repeat(PAYLOAD_BYTES_DEFAULT) });
    let before = "The input has 1,048,578 bytes of JSON.";
    book.add(Code::PayloadTooLarge, before, &scene, post("/v1/executions", large))
        .await;

    let batch = json!({ "executions": vec![job.clone(); BATCH_ITEMS_MAX + 1] });
    let ask = post("/v1/executions/batch", batch);
    book.add(Code::BatchTooLarge, "There are 1,001 items.", &scene, ask)
        .await;

    let never = Body::from_stream(futures::stream::pending::<Result<Vec<u8>, std::io::Error>>());
    let before = "The connection stalls after the head of the request.";
    let ask = post("/v1/executions", job).sending(never);
    book.add(Code::RequestTimeout, before, &scene, ask).await;
}

async fn callers(book: &mut Book) {
    let scene = with(Settings::default());
    let read = get("/v1/executions");
    book.add(
        Code::Unauthenticated,
        "The server has keys, and none is shown.",
        &scene,
        read,
    )
    .await;

    let command = CreateKey {
        name: Identity::parse("dashboard").unwrap(),
        role: Role::Reader,
        namespace: None,
        expires_at: None,
    };
    let reader = scene.engine.create_key(command).await.unwrap();
    let key = format!("Bearer {}", reader.key.expose());
    let submit = post("/v1/executions", json!({ "execution_kind": "job" })).with("Authorization", key);
    book.add(Code::Forbidden, "The key has the role reader.", &scene, submit)
        .await;
}
