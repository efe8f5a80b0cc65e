//! report_usage: recorded on the attempt, then sent to the budget, then cleared from the outbox.
//!
//! Whoever sends it — this call, its repetition, or the pump after a crash — sends the same report under the same identity, so
//! the budget counts it once.

use ff_backend::budget::{BudgetAnswer, BudgetCall};
use ff_core::command::budget::{Reported, UsageIdentity, UsageReport};
use ff_core::command::lease::{ReportUsage, UsageRecorded};
use ff_core::fabric::Result;
use ff_core::id::{BudgetId, EffectId, ExecutionId};
use ff_core::machine::{Context, Step, budget, lease};
use ff_core::name::RequestId;
use ff_core::record::{Actor, Effect, EffectKind, Execution, RecordKey};

use crate::engine::Engine;
use crate::fault::internal;
use crate::tries::Tries;

/// The report an outbox effect stands for, and the budget it goes to; `None` for effects of another kind.
pub(crate) fn usage_report_of(effect: &Effect) -> Option<(BudgetId, UsageReport)> {
    let EffectKind::ReportUsage {
        budget_id,
        deltas,
        dedup_key,
    } = &effect.kind
    else {
        return None;
    };
    let identity = match dedup_key {
        Some(key) => UsageIdentity::Key(key.clone()),
        None => UsageIdentity::Effect(effect.id),
    };
    Some((*budget_id, UsageReport::new(deltas.clone()).identified_by(identity)))
}

impl Engine {
    /// The turn on the execution is kept until the outbox is empty again: a pump that takes its turn before it reads does not
    /// send the same report at the same time, and the caller gets the budget's first answer.
    pub(super) async fn charge_usage(&self, id: ExecutionId, mut command: ReportUsage) -> Result<Reported> {
        self.check_id(id)?;
        // A report without a name of its own goes by its effect, so that it is recorded once however often a reply is lost.
        let own_name = RequestId::parse(command.effect_id.to_string())?;
        command.request_id.get_or_insert(own_name);
        let mut tries = self.tries(RecordKey::Execution(id)).await;
        let Some(effect) = self.record_usage(&mut tries, id, &command).await? else {
            // It was recorded before and has arrived.
            return Ok(Reported::AlreadyApplied);
        };
        let reported = self.send_usage(&effect).await?;
        self.clear_usage(&mut tries, id, effect.id).await;
        match reported {
            Reported::Gone => Err(budget::not_found(command.budget_id)),
            reported => Ok(reported),
        }
    }

    /// Records the report on the attempt, and answers what is left to be sent of it.
    async fn record_usage(
        &self,
        tries: &mut Tries<'_, Option<Effect>>,
        id: ExecutionId,
        command: &ReportUsage,
    ) -> Result<Option<Effect>> {
        let mut remembered = self.held(id);
        let mut checked = false;
        loop {
            let from_memory = remembered.is_some();
            let snapshot = match remembered.take() {
                Some(snapshot) => snapshot,
                None => tries.read(Self::load_of(id)).await?,
            };
            let execution = self.visible(&snapshot, id)?;
            let step = match lease::report_usage(execution, command, &self.worker_context(&snapshot, execution)) {
                Ok(step) if step.outcome == UsageRecorded::Now || !from_memory => step,
                Err(refusal) if !from_memory => return Err(refusal),
                // Neither a refusal nor a repetition is taken from memory.
                Ok(_) | Err(_) => continue,
            };
            if step.outcome == UsageRecorded::Now && !checked {
                let namespace = &execution.definition.namespace;
                self.check_budget(namespace, command.budget_id).await?;
                checked = true;
            }
            let left = outstanding(step.draft.execution(id).unwrap_or(execution), command);
            if let Some(left) = tries.commit(&snapshot, step.map(|_| left)).await? {
                return Ok(left);
            }
        }
    }

    /// Tells the budget. When that fails the outbox keeps the report, for a repetition or the pump.
    async fn send_usage(&self, effect: &Effect) -> Result<Reported> {
        let Some((budget_id, report)) = usage_report_of(effect) else {
            return Err(internal("an effect that is no usage report cannot be sent to a budget"));
        };
        match self.store().budget(BudgetCall::Report { budget_id, report }).await?.1? {
            BudgetAnswer::Reported(reported) => Ok(reported),
            _ => Err(internal("a usage report was answered with something else")),
        }
    }

    /// The report has arrived. Failing to note that fails nobody: the pump sends it again, and the budget recognises it.
    async fn clear_usage(&self, tries: &mut Tries<'_, Option<Effect>>, id: ExecutionId, arrived: EffectId) {
        if let Err(refusal) = self.try_clear(tries, id, arrived).await {
            tracing::debug!(execution_id = %id, %refusal, "a usage report that arrived stays in the outbox for the pump");
        }
    }

    async fn try_clear(&self, tries: &mut Tries<'_, Option<Effect>>, id: ExecutionId, arrived: EffectId) -> Result<()> {
        let mut remembered = self.held(id);
        loop {
            let snapshot = match remembered.take() {
                Some(snapshot) => snapshot,
                None => tries.read(Self::load_of(id)).await?,
            };
            let Some(execution) = snapshot.execution(&RecordKey::Execution(id)) else {
                return Ok(());
            };
            let context = Context {
                actor: Actor::Engine,
                ..self.context_of(&snapshot, execution)
            };
            let step: Step<()> = lease::clear_outbox(execution, &[arrived], &context);
            if tries.commit(&snapshot, step.map(|()| None)).await?.is_some() {
                return Ok(());
            }
        }
    }
}

/// The effect of this report, while it has not arrived. A repetition finds that of the first report: the same usage for the
/// same budget.
fn outstanding(execution: &Execution, command: &ReportUsage) -> Option<Effect> {
    let wanted = EffectKind::ReportUsage {
        budget_id: command.budget_id,
        deltas: command.deltas.clone(),
        dedup_key: command.dedup_key.clone(),
    };
    let mut newest_first = execution.outbox.iter().rev();
    newest_first.find(|effect| effect.kind == wanted).cloned()
}
