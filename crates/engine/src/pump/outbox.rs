//! Effects on other partitions: sent until they have arrived, then cleared.

use ff_backend::due::DueKey;
use ff_backend::limits;
use ff_backend::load::Snapshot;
use ff_core::command::budget::Reported;
use ff_core::error::Rejection;
use ff_core::fabric::Result;
use ff_core::id::{BudgetId, ExecutionId, GrantId, QuotaPolicyId};
use ff_core::ledger::AccountKey;
use ff_core::machine::budget::UsageReport;
use ff_core::machine::outbox::{Arrived, report_of};
use ff_core::machine::quota::SlotReleased;
use ff_core::record::{Effect, EffectKind, Execution, RecordKey};
use futures::future::join_all;

use super::follow_up::Progress;
use super::items::Item;
use super::slots;
use crate::engine::Engine;
use crate::fault;
use crate::ops::budgets;
use crate::ops::work::settle_outbox;

/// Sends everything in the outbox of an execution. What did not arrive stays there and is sent again: its receiver
/// tells a repetition.
pub(super) async fn send_all(engine: &Engine, seen: &Snapshot, id: ExecutionId) -> Result<Progress> {
    let Some(execution) = seen.execution(&RecordKey::Execution(id)) else {
        return Ok(Progress::Done);
    };
    let sent = execution
        .outbox
        .iter()
        .map(|effect| send_effect(engine, execution, effect));
    let (mut arrived, mut failure) = (Vec::new(), None);
    for (effect, outcome) in execution.outbox.iter().zip(join_all(sent).await) {
        match outcome {
            Ok(reported) => arrived.push(Arrived {
                effect_id: effect.id,
                reported,
            }),
            Err(error) => failure = Some(error),
        }
    }
    if !arrived.is_empty() {
        let locked = engine.lock(RecordKey::Execution(id)).await;
        settle_outbox(&locked.starting_from(Some(seen.clone())), id, &arrived).await?;
    }
    failure.map_or(Ok(Progress::Done), Err)
}

/// Sends an effect, and answers what a budget said to it.
async fn send_effect(engine: &Engine, execution: &Execution, effect: &Effect) -> Result<Option<Reported>> {
    if let Some((budget_id, report)) = report_of(execution, effect) {
        return send_report(engine, budget_id, report).await;
    }
    if let EffectKind::ReleaseSlot {
        quota_policy_id,
        grant_id,
    } = effect.kind
    {
        release_slot(engine, quota_policy_id, grant_id).await?;
    }
    Ok(None)
}

/// Gives a slot back; whoever waits for one is looked at next.
pub(super) async fn release_slot(engine: &Engine, quota_policy_id: QuotaPolicyId, grant_id: GrantId) -> Result<()> {
    slots::saw_quota(engine, quota_policy_id);
    let released = limits::quotas::release(engine.store(), quota_policy_id, grant_id).await;
    match released.map_err(fault::refused) {
        Ok(SlotReleased::Freed) => {
            let account = AccountKey::Quota(quota_policy_id);
            engine.shared.causes.moved(account);
            let partition = engine.shared.config.counts.of_quota(quota_policy_id);
            engine.shared.due_soon.add(partition, DueKey::Account(account));
            Ok(())
        }
        Ok(_) => Ok(()),
        Err(refusal) => refused(refusal),
    }
}

async fn send_report(engine: &Engine, budget_id: BudgetId, report: UsageReport) -> Result<Option<Reported>> {
    let reported = match budgets::report(engine, budget_id, report).await {
        Ok(reported) => reported,
        Err(refusal) => return refused(refusal).map(|()| None),
    };
    if matches!(reported, Reported::HardBreach { .. }) {
        // What runs may have to stop, and what is queued cannot be claimed.
        let partition = engine.shared.config.counts.of_budget(budget_id);
        engine
            .shared
            .due_soon
            .add(partition, DueKey::Account(AccountKey::Budget(budget_id)));
        engine.shared.pump.findings.add(Item::ClosedBudget(budget_id));
    }
    Ok(Some(reported))
}

/// A receiver that will never take an effect has had it: keeping it would keep its record from ever being deleted.
fn refused(refusal: Rejection) -> Result<()> {
    if refusal.code.retryable() {
        return Err(refusal);
    }
    tracing::warn!(%refusal, "an effect was refused by its receiver; it is dropped");
    Ok(())
}
