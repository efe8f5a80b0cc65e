//! Time that a test moves, and workers that it lets crash: routes that are there only on a server whose clock is virtual.

mod crash;

use std::time::Duration;

use axum::Json;
use axum::response::{IntoResponse, Response};
use ff_core::caller::Role;
use ff_core::error::{Code, Rejection};
use ff_core::fabric::{Access, Body, Method};
use ff_core::name::{StepKey, WorkerInstanceId};
use ff_engine::Restless;
use serde::Deserialize;
use serde_json::json;

use crate::extras::Extra;
use crate::problem::Answer;
use crate::request::Asked;

pub(crate) use crash::Tested;

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
        name: "test_crash_after",
        summary: "Lets the worker that records the step with this key crash as soon as it has, once: what it asked for is done and \
                  not answered, and its leases are over. Answers after which steps a worker is still to crash.",
        method: Method::POST,
        path: "/test/crash-after",
        access: Access::Role(Role::Admin),
        body: Body::Small,
        serve: |asked| Box::pin(crash_after(asked)),
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
struct CrashAfter {
    /// Absent: nothing is added.
    step: Option<StepKey>,
}

#[derive(Deserialize)]
struct LoseWorker {
    worker_instance_id: WorkerInstanceId,
}

async fn advance(asked: Asked) -> Answer<Response> {
    let command: Advance = asked.command()?;
    let now = tested(&asked)?.time.advance(Duration::from_millis(command.by_ms)).await;
    Ok(Json(json!({ "server_time": now.map_err(told)? })).into_response())
}

async fn quiet(asked: Asked) -> Answer<Response> {
    let Quiet {} = asked.command()?;
    let time = &tested(&asked)?.time;
    time.quiet().await.map_err(told)?;
    Ok(Json(json!({ "server_time": time.now() })).into_response())
}

async fn crash_after(asked: Asked) -> Answer<Response> {
    let command: CrashAfter = asked.command()?;
    let steps = tested(&asked)?.crash_after(command.step);
    Ok(Json(json!({ "steps": steps })).into_response())
}

async fn lose_worker(asked: Asked) -> Answer<Response> {
    let command: LoseWorker = asked.command()?;
    let lost = tested(&asked)?.time.lose_worker(&command.worker_instance_id).await?;
    Ok(Json(json!({ "leases": lost })).into_response())
}

fn tested(asked: &Asked) -> Result<&Tested, Rejection> {
    let tested = asked.server.tested.as_ref();
    tested.ok_or_else(|| Code::NotFound.because("the clock of this server is not virtual"))
}

fn told(restless: Restless) -> Rejection {
    match restless {
        Restless::Refused(refused) => refused,
        busy @ Restless::Busy(_) => Code::Timeout.because(busy.to_string()),
    }
}
