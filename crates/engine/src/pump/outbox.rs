//! Effects on other partitions: sent until they have arrived, then cleared.

use ff_backend::budget::{BudgetAnswer, BudgetCall};
use ff_backend::due::DueKey;
use ff_backend::load::Snapshot;
use ff_backend::quota::{QuotaAnswer, QuotaCall};
use ff_core::command::budget::{Reported, UsageReport};
use ff_core::command::quota::SlotReleased;
use ff_core::error::Rejection;
use ff_core::fabric::Result;
use ff_core::id::{BudgetId, ExecutionId, GrantId, QuotaPolicyId};
use ff_core::machine::outbox::{Arrived, report_of};
use ff_core::record::{Cause, Effect, EffectKind, Execution, RecordKey};
use futures::future::join_all;

use super::follow_up::Progress;
use super::items::Item;
use crate::engine::Engine;
use crate::fault::internal;
use crate::tries::Tries;

impl Engine {
    /// Sends everything in the outbox of an execution. What did not arrive stays there and is sent again: its receiver
    /// tells a repetition.
    pub(super) async fn empty_outbox(&self, seen: &Snapshot, id: ExecutionId) -> Result<Progress> {
        let Some(execution) = seen.execution(&RecordKey::Execution(id)) else {
            return Ok(Progress::Done);
        };
        let sent = execution
            .outbox
            .iter()
            .map(|effect| self.send_effect(execution, effect));
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
            let mut tries: Tries<'_, ()> = self.tries(RecordKey::Execution(id)).await;
            let seen = Some(seen.clone());
            self.settle_outbox(&mut tries, seen, id, &arrived).await?;
        }
        failure.map_or(Ok(Progress::Done), Err)
    }

    /// Sends an effect, and answers what a budget said to it.
    async fn send_effect(&self, execution: &Execution, effect: &Effect) -> Result<Option<Reported>> {
        if let Some((budget_id, report)) = report_of(execution, effect) {
            return self.send_report(budget_id, report).await;
        }
        if let EffectKind::ReleaseSlot {
            quota_policy_id,
            grant_id,
        } = effect.kind
        {
            self.send_release(quota_policy_id, grant_id).await?;
        }
        Ok(None)
    }

    /// Gives a slot back; whoever waits for one is looked at next.
    pub(super) async fn send_release(&self, quota_policy_id: QuotaPolicyId, grant_id: GrantId) -> Result<()> {
        self.saw_quota(quota_policy_id);
        let release = QuotaCall::Release {
            quota_policy_id,
            grant_id,
        };
        match self.store().quota(release).await?.1 {
            Ok(QuotaAnswer::Released(SlotReleased::Freed)) => {
                self.shared.causes.moved(Cause::Quota(quota_policy_id));
                let partition = self.shared.config.counts.of_quota(quota_policy_id);
                self.shared.due_soon.add(partition, DueKey::Quota(quota_policy_id));
                Ok(())
            }
            Ok(_) => Ok(()),
            Err(refusal) => refused(refusal),
        }
    }

    async fn send_report(&self, budget_id: BudgetId, report: UsageReport) -> Result<Option<Reported>> {
        let reported = match self.store().budget(BudgetCall::Report { budget_id, report }).await?.1 {
            Ok(BudgetAnswer::Reported(reported)) => reported,
            Ok(_) => return Err(internal("a usage report was answered with something else")),
            Err(refusal) => return refused(refusal).map(|()| None),
        };
        if matches!(reported, Reported::HardBreach { .. }) {
            // What runs may have to stop, and what is queued cannot be claimed.
            let partition = self.shared.config.counts.of_budget(budget_id);
            self.shared.due_soon.add(partition, DueKey::Budget(budget_id));
            self.shared.pump.findings.add(Item::ClosedBudget(budget_id));
        }
        Ok(Some(reported))
    }
}

/// A receiver that will never take an effect has had it: keeping it would keep its record from ever being deleted.
fn refused(refusal: Rejection) -> Result<()> {
    if refusal.code.retryable() {
        return Err(refusal);
    }
    tracing::warn!(%refusal, "an effect was refused by its receiver; it is dropped");
    Ok(())
}
