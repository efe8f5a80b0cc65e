//! Kills, lost answers, refusals, drains, budgets that are used up.

use std::os::unix::process::ExitStatusExt;

use ff_core::id::ExecutionId;
use ff_core::payload::Payload;
use ff_core::state::PublicState;
use serde_json::{Value, json};

use super::leases::revoke;
use super::steps::{TOKENS, each_once, in_order_once, spent, squares};
use crate::conformance::stand::Stand;
use crate::process::Ended;

/// How often a worker is killed, or its lease taken away, on the way through six steps.
const TIMES: usize = 3;
const STEPS: u64 = 6;
/// What a process that does not listen ends by.
const SIGTERM: i32 = 15;
/// How long each of them takes: longer than it takes to notice that the one before is recorded.
const STEP_MS: u64 = 150;

/// Every third call is refused.
pub(super) async fn refused(stand: &Stand) -> anyhow::Result<()> {
    stand.faults.refuse_every(3);
    in_spite_of_faults(stand).await
}

/// Every third answer is lost.
pub(super) async fn lost_replies(stand: &Stand) -> anyhow::Result<()> {
    stand.faults.lose_every(3);
    in_spite_of_faults(stand).await
}

/// A little of everything, of which everything happens once.
async fn in_spite_of_faults(stand: &Stand) -> anyhow::Result<()> {
    stand.start_worker().await?;
    let budget = stand.client.new_budget("conformance").hard(TOKENS, 1_000).await?;
    let steps = stand.submit("steps", &json!({ "count": 4, "ms": 0 })).await?;
    let frames = stand.submit("frames", &json!({ "count": 50 })).await?;
    let paid = json!({ "budget_id": budget, "turns": 3, "tokens": 10 });
    let paid = stand.submit("charge", &paid).await?;
    let children = stand.submit("spawn", &json!({ "names": ["a", "b"] })).await?;
    squares(stand, steps, 4).await?;
    each_once(stand, steps, "turn#", 4)?;
    in_order_once(stand, frames, 50).await?;
    stand.completed(paid).await?;
    each_once(stand, paid, "turn#", 3)?;
    spent(stand, budget, 30).await?;
    let result = stand.completed(children).await?;
    anyhow::ensure!(result == json!(["a", "b"]), "the children gave {result}");
    for id in [steps, frames, paid, children] {
        let retries = stand.view(id).await?.counts.retries;
        anyhow::ensure!(
            retries == 0,
            "what the server did counts as {retries} failures of the handler"
        );
    }
    anyhow::ensure!(
        stand.faults.happened() > 0,
        "nothing went wrong, so that nothing is known"
    );
    Ok(())
}

/// A task of six steps.
async fn begin(stand: &Stand) -> anyhow::Result<ExecutionId> {
    stand.start_worker().await?;
    stand.submit("steps", &json!({ "count": STEPS, "ms": STEP_MS })).await
}

/// How often the bodies of these steps ran.
fn runs(stand: &Stand, id: ExecutionId, keys: &[String]) -> usize {
    keys.iter().map(|key| stand.ledger.count(id, key)).sum()
}

/// It has come to its end, and none of these bodies has run again.
async fn goes_on(stand: &Stand, id: ExecutionId, recorded: &[(Vec<String>, usize)]) -> anyhow::Result<()> {
    squares(stand, id, STEPS).await?;
    for (keys, before) in recorded {
        let after = runs(stand, id, keys);
        anyhow::ensure!(
            after == *before,
            "of {keys:?}, which were recorded, bodies ran again: {:?}",
            stand.ledger.effects(id)
        );
    }
    let retries = stand.view(id).await?.counts.retries;
    anyhow::ensure!(retries == 0, "it counts as {retries} failures of the handler");
    Ok(())
}

pub(super) async fn killed(stand: &Stand) -> anyhow::Result<()> {
    let id = begin(stand).await?;
    let mut recorded = Vec::new();
    for time in 1..=TIMES {
        stand.recorded_at_least(id, time).await?;
        stand.kill_worker().await?;
        let keys = stand.recorded(id).await?;
        recorded.push((keys.clone(), runs(stand, id, &keys)));
        stand.start_worker().await?;
    }
    goes_on(stand, id, &recorded).await
}

pub(super) async fn lease_lost(stand: &Stand) -> anyhow::Result<()> {
    let id = begin(stand).await?;
    let mut recorded = Vec::new();
    for time in 1..=TIMES {
        stand.recorded_at_least(id, time).await?;
        stand.in_state(id, PublicState::Active).await?;
        revoke(stand, id).await?;
        let keys = stand.recorded(id).await?;
        recorded.push((keys.clone(), runs(stand, id, &keys)));
    }
    goes_on(stand, id, &recorded).await
}

pub(super) async fn drain(stand: &Stand) -> anyhow::Result<()> {
    let id = begin(stand).await?;
    stand.recorded_at_least(id, 1).await?;
    match stand.drain_worker().await? {
        // The shell that started the worker is told to end, too, and does so where it is.
        Ended::Told(status) if status.success() || status.signal() == Some(SIGTERM) => {}
        ended => anyhow::bail!("told to end, it did so badly: {ended:?}"),
    }
    let left = stand.workers().await?;
    anyhow::ensure!(left.is_empty(), "it is still registered as {}", left[0].instance);
    let view = stand.view(id).await?;
    anyhow::ensure!(view.state.public_state != PublicState::Active, "it kept the lease");
    let keys = stand.recorded(id).await?;
    let recorded = [(keys.clone(), runs(stand, id, &keys))];
    stand.start_worker().await?;
    goes_on(stand, id, &recorded).await?;
    let attempts = stand.view(id).await?.attempt_count;
    anyhow::ensure!(attempts == 1, "given back, it took {attempts} attempts");
    Ok(())
}

pub(super) async fn budget(stand: &Stand) -> anyhow::Result<()> {
    stand.start_worker().await?;
    let budget = stand.client.new_budget("conformance").hard(TOKENS, 30).await?;
    let input = json!({ "budget_id": budget, "turns": 5, "tokens": 10 });
    let named: Value = json!({ "budget_ids": [budget] });
    let parked = stand.submit_with("charge", Payload::json(&input), &named).await?;
    stand.in_state(parked, PublicState::RateLimited).await?;
    each_once(stand, parked, "turn#", 3)?;
    spent(stand, budget, 30).await?;

    // Whose policy does not name it would be handed out again at once.
    let failing = stand.submit("charge", &input).await?;
    let failed = stand.in_state(failing, PublicState::Failed).await?;
    let category = failed
        .failure
        .map(|failure| failure.category.to_string())
        .unwrap_or_default();
    anyhow::ensure!(
        category == "budget",
        "without the budget in its policy it failed with category {category:?}"
    );

    stand.client.change_budget(budget).hard(TOKENS, 1_000).await?;
    stand.completed(parked).await?;
    each_once(stand, parked, "turn#", 5)
}
