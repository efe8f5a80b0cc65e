//! The demonstration: submits a few executions and tells what becomes of them.

use std::net::SocketAddr;

use anyhow::Context;
use ff_core::command::submit::{CreateExecution, Created};
use ff_core::fabric::{Fabric, On};
use ff_core::id::ExecutionId;
use ff_core::name::{ExecutionKind, LaneId};
use ff_core::payload::Payload;
use ff_core::policy::Policy;
use ff_core::time::Duration;
use ff_core::view::{GetResult, WaitForEnd};
use ff_engine::Engine;
use serde_json::{Value, json};

use super::narrate;
use super::worker::LANE;
use crate::say;

/// Submits a few executions to the built-in worker and tells what happens until all have ended.
pub(crate) async fn show(engine: &Engine) -> anyhow::Result<()> {
    say::line("\nThree executions, one of which fails at first:\n");
    let narrator = tokio::spawn(narrate::events(engine.clone(), narrate::from_now(engine).await?));
    let retry = json!({ "retry_policy": { "max_retries": 2, "backoff": { "fixed": { "delay_ms": 200 } } } });
    let submissions = [
        ("demo.greet", json!({ "words": 3 }), json!({})),
        ("demo.flaky", json!({ "words": 1, "fails_first": true }), retry),
        ("demo.greet", json!({ "words": 2 }), json!({})),
    ];
    let mut ids = Vec::new();
    for (kind, input, policy) in submissions {
        ids.push(submit(engine, kind, &input, &policy).await?);
    }
    for id in &ids {
        until_ended(engine, *id).await?;
    }
    // The narrator is told by the same feed; its last words may still be on their way.
    tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    narrator.abort();
    narrate::output(engine, &ids).await
}

async fn submit(engine: &Engine, kind: &str, input: &Value, policy: &Value) -> anyhow::Result<ExecutionId> {
    let command = CreateExecution {
        lane_id: LaneId::parse(LANE)?,
        policy: Policy::from_json(policy)?,
        ..CreateExecution::new(ExecutionKind::parse(kind)?, Payload::json(input))
    };
    match engine.create_execution(command).await? {
        Created::Created { execution_id: id } => Ok(id),
        Created::Duplicate { execution_id, .. } => Ok(execution_id),
    }
}

async fn until_ended(engine: &Engine, id: ExecutionId) -> anyhow::Result<()> {
    let wait = WaitForEnd {
        wait: Duration::from_secs(20),
    };
    let state = engine.wait_for_end(On::new(id, wait)).await?;
    anyhow::ensure!(
        state.public_state.is_terminal(),
        "execution {id} did not end: {state:?}"
    );
    engine
        .get_result(On::new(id, GetResult::default()))
        .await
        .context("it ended without a result")
        .map(drop)
}

/// Says what to try next.
pub(crate) fn invite(address: SocketAddr) {
    say::line(format_args!(
        "
Listening on http://{address}. Your turn:

  curl -s http://{address}/v1/executions -H 'content-type: application/json' -d '{{\"execution_kind\":\"hello\",\"lane_id\":\"demo\",\"input\":{{\"words\":2}}}}'
  curl -s http://{address}/v1/executions/EXECUTION_ID        (without its braces: fp:N:...)
  curl -sN http://{address}/v1/events

Or be the worker of another lane: submit without \"lane_id\", then

  curl -s http://{address}/v1/workers/me/claim -H 'content-type: application/json' -d '{{\"worker_instance_id\":\"me-1\"}}'
  curl -s http://{address}/v1/grants/redeem -H 'content-type: application/json' -d '{{\"grant\":\"GRANT\",\"worker_id\":\"me\",\"worker_instance_id\":\"me-1\"}}'
  curl -s http://{address}/v1/executions/EXECUTION_ID/lease/complete -H 'content-type: application/json' \\
       -d '{{\"lease_id\":\"...\",\"lease_epoch\":1,\"attempt_id\":\"...\",\"result\":{{\"ok\":true}}}}'

Press Ctrl-C to stop."
    ));
}
