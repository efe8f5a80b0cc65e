//! Sleeps, signals, people, callbacks.

use std::time::Duration;

use ff_core::id::ExecutionId;
use ff_core::state::PublicState;
use ff_sdk::{CallbackHandle, hours};
use serde_json::{Value, json};

use crate::conformance::stand::Stand;

/// Longer than anybody would wait in place.
const LONG: Duration = hours(1);

pub(super) async fn sleep(stand: &Stand) -> anyhow::Result<()> {
    stand.start_worker().await?;
    for time in [LONG, Duration::from_millis(100)] {
        let id = stand.submit("sleep", &json!({ "ms": time.as_millis() })).await?;
        stand.in_state(id, PublicState::Delayed).await?;
        stand.time.advance(time).await?;
        let result = stand.completed(id).await?;
        anyhow::ensure!(result == json!("awake"), "it gave {result}");
        effects(stand, id, &["before#0", "after#0"])?;
    }
    Ok(())
}

/// What bodies did, once each and in this order.
fn effects(stand: &Stand, id: ExecutionId, expected: &[&str]) -> anyhow::Result<()> {
    let found = stand.ledger.effects(id);
    anyhow::ensure!(found == expected, "the bodies that ran are {found:?}, not {expected:?}");
    Ok(())
}

pub(super) async fn wait(stand: &Stand) -> anyhow::Result<()> {
    stand.start_worker().await?;
    let input = json!({ "timeout_ms": LONG.as_millis() });
    let told = stand.submit("wait", &input).await?;
    stand.in_state(told, PublicState::Suspended).await?;
    stand.run(told).signal("paid", &json!({ "cents": 4_200 })).await?;
    let result = stand.completed(told).await?;
    anyhow::ensure!(result == json!({ "cents": 4_200 }), "the signal brought {result}");

    let alone = stand.submit("wait", &input).await?;
    stand.in_state(alone, PublicState::Suspended).await?;
    stand.time.advance(LONG).await?;
    let result = stand.completed(alone).await?;
    anyhow::ensure!(result == Value::Null, "without a signal it gave {result}, not null");
    Ok(())
}

pub(super) async fn approval(stand: &Stand) -> anyhow::Result<()> {
    stand.start_worker().await?;
    for approved in [true, false] {
        let id = stand.submit("approval", &json!(null)).await?;
        stand.in_state(id, PublicState::Suspended).await?;
        let run = stand.run(id);
        if approved {
            run.approve("review").await?;
        } else {
            run.reject("review").await?;
        }
        let result = stand.completed(id).await?;
        anyhow::ensure!(
            result == json!({ "approved": approved }),
            "the decision became {result}"
        );
        effects(stand, id, &["draft#0"])?;
    }
    Ok(())
}

pub(super) async fn callback(stand: &Stand) -> anyhow::Result<()> {
    stand.start_worker().await?;
    let id = stand.submit("callback", &json!(null)).await?;
    stand.noted(id, "hand#0", 1).await?;
    let handed = stand.ledger.detail(id, "hand#0").unwrap_or_default();
    let handle = CallbackHandle::parse(handed.as_str().unwrap_or_default())?;
    // The address is good before anybody waits, and after.
    stand.client.signal(&handle, "came", &json!("parcel 7")).await?;
    let result = stand.completed(id).await?;
    anyhow::ensure!(result == json!("parcel 7"), "the callback brought {result}");
    effects(stand, id, &["hand#0"])
}
