//! Time that a test moves: routes that are there only on a server whose clock is virtual.

use std::time::Duration;

use axum::Json;
use axum::response::{IntoResponse, Response};
use ff_core::caller::Role;
use ff_core::error::{Code, Rejection};
use ff_core::fabric::{Access, Body, Method};
use ff_core::name::WorkerInstanceId;
use ff_engine::{Restless, VirtualTime};
use serde::Deserialize;
use serde_json::json;

use crate::extras::Extra;
use crate::problem::Answer;
use crate::request::Asked;

/// The routes of a server with a virtual clock, beside all others.
pub static TEST_ROUTES: &[Extra] = &[
    Extra {
        name: "test_advance",
        summary: "Lets time pass, from one due thing to the next, and answers when all is quiet: nothing runs, and nothing could \
                  be handed to a registered worker.",
        method: Method::POST,
        path: "/test/advance",
        access: Access::Role(Role::Admin),
        body: Body::Small,
        serve: |asked| Box::pin(advance(asked)),
    },
    Extra {
        name: "test_quiet",
        summary: "Answers when all is quiet.",
        method: Method::POST,
        path: "/test/quiet",
        access: Access::Role(Role::Admin),
        body: Body::Small,
        serve: |asked| Box::pin(quiet(asked)),
    },
    Extra {
        name: "test_lose_worker",
        summary: "A worker process is gone without a word: its leases are over, and it is registered no longer.",
        method: Method::POST,
        path: "/test/lose-worker",
        access: Access::Role(Role::Admin),
        body: Body::Small,
        serve: |asked| Box::pin(lose_worker(asked)),
    },
];

#[derive(Deserialize)]
struct Advance {
    by_ms: u64,
}

#[derive(Deserialize)]
struct Quiet {}

#[derive(Deserialize)]
struct LoseWorker {
    worker_instance_id: WorkerInstanceId,
}

async fn advance(asked: Asked) -> Answer<Response> {
    let command: Advance = asked.command()?;
    let now = time(&asked)?.advance(Duration::from_millis(command.by_ms)).await;
    Ok(Json(json!({ "server_time": now.map_err(told)? })).into_response())
}

async fn quiet(asked: Asked) -> Answer<Response> {
    let Quiet {} = asked.command()?;
    let time = time(&asked)?;
    time.quiet().await.map_err(told)?;
    Ok(Json(json!({ "server_time": time.now() })).into_response())
}

async fn lose_worker(asked: Asked) -> Answer<Response> {
    let command: LoseWorker = asked.command()?;
    let lost = time(&asked)?.lose_worker(&command.worker_instance_id).await?;
    Ok(Json(json!({ "leases": lost })).into_response())
}

fn time(asked: &Asked) -> Result<&VirtualTime, Rejection> {
    let time = asked.server.time.as_ref();
    time.ok_or_else(|| Code::NotFound.because("the clock of this server is not virtual"))
}

fn told(restless: Restless) -> Rejection {
    match restless {
        Restless::Refused(refused) => refused,
        busy @ Restless::Busy(_) => Code::Timeout.because(busy.to_string()),
    }
}
