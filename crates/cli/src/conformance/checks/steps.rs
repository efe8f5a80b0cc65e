//! Steps, and what goes with them.

use std::collections::BTreeMap;

use ff_core::fabric::Fabric;
use ff_core::id::{BudgetId, ExecutionId};
use serde_json::{Value, json};

use crate::conformance::stand::Stand;

/// What charges are in.
pub(super) const TOKENS: &str = "tokens";

pub(super) async fn in_order(stand: &Stand) -> anyhow::Result<()> {
    stand.start_worker().await?;
    let id = stand.submit("steps", &json!({ "count": 4, "ms": 0 })).await?;
    squares(stand, id, 4).await?;
    each_once(stand, id, "turn#", 4)?;
    let recorded = stand.recorded(id).await?;
    anyhow::ensure!(
        recorded == ["turn#0", "turn#1", "turn#2", "turn#3"],
        "recorded were {recorded:?}"
    );
    Ok(())
}

/// Waits for the result of `steps`.
pub(super) async fn squares(stand: &Stand, id: ExecutionId, count: u64) -> anyhow::Result<()> {
    let result = stand.completed(id).await?;
    let expected: Vec<u64> = (0..count).map(|number| number * number).collect();
    anyhow::ensure!(result == json!(expected), "the steps gave {result}, not {expected:?}");
    Ok(())
}

/// Every body ran, and ran once.
pub(super) fn each_once(stand: &Stand, id: ExecutionId, before: &str, count: u64) -> anyhow::Result<()> {
    for number in 0..count {
        let times = stand.ledger.count(id, &format!("{before}{number}"));
        anyhow::ensure!(
            times == 1,
            "the body of {before}{number} ran {times} times: {:?}",
            stand.ledger.effects(id)
        );
    }
    Ok(())
}

pub(super) async fn parallel(stand: &Stand) -> anyhow::Result<()> {
    stand.start_worker().await?;
    let id = stand.submit("parallel", &json!({ "count": 5 })).await?;
    let result = stand.completed(id).await?;
    anyhow::ensure!(result == json!([0, 1, 2, 3, 4]), "the parts gave {result}");
    each_once(stand, id, "part#", 5)
}

pub(super) async fn keyed(stand: &Stand) -> anyhow::Result<()> {
    stand.start_worker().await?;
    let id = stand.submit("keyed", &json!({ "items": ["b", "a", "c"] })).await?;
    let result = stand.completed(id).await?;
    anyhow::ensure!(result == json!(["b", "a", "c"]), "the items gave {result}");
    let recorded = stand.recorded(id).await?;
    anyhow::ensure!(
        recorded == ["item[b]", "item[a]", "item[c]"],
        "recorded were {recorded:?}"
    );
    Ok(())
}

pub(super) async fn frames(stand: &Stand) -> anyhow::Result<()> {
    stand.start_worker().await?;
    let id = stand.submit("frames", &json!({ "count": 50 })).await?;
    in_order_once(stand, id, 50).await
}

/// Frames of type `token` with the numbers from 0, each once.
pub(super) async fn in_order_once(stand: &Stand, id: ExecutionId, count: u64) -> anyhow::Result<()> {
    stand.completed(id).await?;
    let (mut frames, mut found) = (stand.run(id).frames().of_type("token").await?, Vec::new());
    while let Some(frame) = frames.next().await.transpose()? {
        found.push(frame.json::<Value>()?);
    }
    let expected: Vec<Value> = (0..count).map(Value::from).collect();
    anyhow::ensure!(found == expected, "the frames are {found:?}");
    Ok(())
}

pub(super) async fn charge(stand: &Stand) -> anyhow::Result<()> {
    stand.start_worker().await?;
    let budget = stand.client.new_budget("conformance").hard(TOKENS, 1_000).await?;
    let input = json!({ "budget_id": budget, "turns": 3, "tokens": 10 });
    let id = stand.submit("charge", &input).await?;
    stand.completed(id).await?;
    each_once(stand, id, "turn#", 3)?;
    spent(stand, budget, 30).await
}

/// The budget was charged this much, neither more nor less.
pub(super) async fn spent(stand: &Stand, budget: BudgetId, tokens: u64) -> anyhow::Result<()> {
    stand.time.quiet().await?;
    let dimensions = stand.client.get_budget(budget).await?.dimensions;
    let usage: BTreeMap<String, u64> = dimensions
        .iter()
        .map(|(name, view)| (name.to_string(), view.usage))
        .collect();
    let used = usage.get(TOKENS).copied().unwrap_or(0);
    anyhow::ensure!(used == tokens, "the budget was charged {used} tokens, not {tokens}");
    Ok(())
}

pub(super) async fn spawn(stand: &Stand) -> anyhow::Result<()> {
    stand.start_worker().await?;
    let id = stand.submit("spawn", &json!({ "names": ["a", "b", "c"] })).await?;
    let result = stand.completed(id).await?;
    anyhow::ensure!(result == json!(["a", "b", "c"]), "the children gave {result}");
    let recorded = stand.recorded(id).await?;
    anyhow::ensure!(
        recorded == ["child#0", "child#1", "child#2"],
        "recorded were {recorded:?}"
    );
    Ok(())
}
