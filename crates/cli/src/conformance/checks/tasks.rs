//! Inputs, results, failures, tiers.

use ff_core::payload::Payload;
use ff_core::state::PublicState;
use serde_json::json;

use crate::conformance::stand::Stand;

/// Tasks by which round trips are counted.
const TASKS: u32 = 20;

pub(super) async fn echo(stand: &Stand) -> anyhow::Result<()> {
    stand.start_worker().await?;
    let before = stand.faults.calls();
    for number in 0..TASKS {
        let input = json!({ "number": number, "text": "é\n\u{1f980}", "deep": [[null, true]] });
        let id = stand.submit("echo", &input).await?;
        let result = stand.completed(id).await?;
        anyhow::ensure!(result == input, "{input} came back as {result}");
    }
    let calls = u32::try_from(stand.faults.calls() - before)?;
    stand.note_round_trips(f64::from(calls) / f64::from(TASKS));
    Ok(())
}

pub(super) async fn bytes(stand: &Stand) -> anyhow::Result<()> {
    stand.start_worker().await?;
    let all: Vec<u8> = (0..=255).collect();
    let id = stand
        .submit_with("bytes", Payload::binary(all.clone()), &json!({}))
        .await?;
    let result = stand.completed_bytes(id).await?;
    anyhow::ensure!(
        result.bytes == all,
        "256 different bytes came back as {:?}",
        result.bytes
    );
    Ok(())
}

/// A policy with retries that follow at once.
fn retries(count: u32) -> serde_json::Value {
    json!({ "retry_policy": { "max_retries": count, "backoff": { "fixed": { "delay_ms": 0 } } } })
}

pub(super) async fn fail(stand: &Stand) -> anyhow::Result<()> {
    stand.start_worker().await?;
    let input = Payload::json(&json!({ "times": 2 }));
    let id = stand.submit_with("fail", input, &retries(3)).await?;
    let result = stand.completed(id).await?;
    anyhow::ensure!(
        result == json!({ "attempt": 2 }),
        "it gave {result} instead of the attempt that succeeded"
    );
    let attempts = stand.view(id).await?.attempt_count;
    anyhow::ensure!(attempts == 3, "there were {attempts} attempts, not 3");
    Ok(())
}

pub(super) async fn permanent(stand: &Stand) -> anyhow::Result<()> {
    stand.start_worker().await?;
    let id = stand
        .submit_with("permanent", Payload::json(&json!(null)), &retries(3))
        .await?;
    let view = stand.in_state(id, PublicState::Failed).await?;
    let category = view
        .failure
        .map(|failure| failure.category.to_string())
        .unwrap_or_default();
    anyhow::ensure!(category == "permanent", "it failed with category {category:?}");
    anyhow::ensure!(
        view.attempt_count == 1,
        "there were {} attempts, not 1",
        view.attempt_count
    );
    Ok(())
}

pub(super) async fn tiers(stand: &Stand) -> anyhow::Result<()> {
    stand.start_worker().await?;
    let mut policy = retries(3);
    let tier = |model: &str| json!({ "provider": "test", "model": model });
    policy["fallback_policy"] = json!({ "tiers": [tier("big"), tier("middle"), tier("small")] });
    let input = Payload::json(&json!({ "until": "small" }));
    let id = stand.submit_with("tiers", input, &policy).await?;
    let result = stand.completed(id).await?;
    anyhow::ensure!(
        result == json!("small"),
        "the model was {result}, not the third of the list"
    );
    Ok(())
}

pub(super) async fn unknown_kind(stand: &Stand) -> anyhow::Result<()> {
    stand.start_worker().await?;
    let id = stand.submit("nobody.knows.this", &json!(null)).await?;
    let view = stand.in_state(id, PublicState::Delayed).await?;
    anyhow::ensure!(view.counts.retries == 0, "it counts as a failure");
    Ok(())
}
