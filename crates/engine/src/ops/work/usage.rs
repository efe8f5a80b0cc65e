//! report_usage: recorded on the attempt, then sent to the budget, then settled with its answer.
//!
//! Whoever sends it — this call, its repetition, or the pump after a crash — sends the same effect under the same identity,
//! so the budget counts it once. A repetition that nobody here remembers is another effect under that identity: the budget
//! says so, and the attempt forgets it again.

use ff_backend::load::{Load, Snapshot};
use ff_core::command::budget::Reported;
use ff_core::command::lease::ReportUsage;
use ff_core::error::Code;
use ff_core::fabric::{On, Result};
use ff_core::id::{BudgetId, EffectId, ExecutionId};
use ff_core::machine::budget::UsageReport;
use ff_core::machine::lease::UsageRecorded;
use ff_core::machine::outbox::{self, Arrived};
use ff_core::machine::{Context, Decided, budget, lease};
use ff_core::name::RequestId;
use ff_core::record::{Actor, Attempt, Record, RecordKey};

use super::Held;
use crate::directory::limits;
use crate::engine::Engine;
use crate::locked::Locked;
use crate::mint;
use crate::ops::budgets;
use crate::transact::Decision;

/// The effect that waits in the outbox, and what is to be sent of it; `None` when it has arrived.
type Left = Option<(EffectId, BudgetId, UsageReport)>;

/// The execution stays locked until the outbox is empty again: a pump that locks before it reads does not
/// send the same report at the same time, and the caller gets the budget's first answer.
pub(crate) async fn report_usage(engine: &Engine, command: On<ExecutionId, ReportUsage>) -> Result<Reported> {
    let On { id, mut command } = command;
    engine.check_id(id)?;
    // The tries of a report nobody named are told by a name of this call: each has an effect of its own.
    let own_name = RequestId::parse(mint::secret(engine.host()).simple().to_string())?;
    command.request_id.get_or_insert(own_name);
    let locked = engine.lock_remembered(id).await;
    let Some((effect_id, budget_id, report)) = record_usage(&locked, id, &command).await? else {
        // It was recorded before and has arrived.
        return Ok(Reported::AlreadyApplied);
    };
    let reported = budgets::report(engine, budget_id, report).await?;
    let arrived = Arrived {
        effect_id,
        reported: Some(reported.clone()),
    };
    // Failing to note that fails nobody: the pump sends it again, and the budget recognises it.
    if let Err(refusal) = settle_outbox(&locked.starting_from(engine.cached(id)), id, &[arrived]).await {
        tracing::debug!(execution_id = %id, %refusal, "a usage report that arrived stays in the outbox for the pump");
    }
    match reported {
        Reported::Gone => Err(budget::not_found(command.budget_id)),
        reported => Ok(reported),
    }
}

/// Records the report on the attempt, and answers what is left to be sent of it.
async fn record_usage(locked: &Locked<'_>, id: ExecutionId, command: &ReportUsage) -> Result<Left> {
    let engine = locked.engine;
    let decide = || async {
        let snapshot = locked.look(Engine::load_of(id)).await?;
        // Every try has an effect of its own: what a lost one recorded may have arrived already.
        let effect_id = EffectId::from_uuid(engine.mint(snapshot.now));
        let identity = lease::usage_identity(id, command, effect_id);
        let execution = engine.visible(&snapshot, id)?;
        let context = Held::from(id).context(engine, &snapshot, execution);
        let decided = lease::report_usage(execution, command, effect_id, &context)?;
        if decided.outcome == UsageRecorded::Now {
            let namespace = &execution.definition.namespace;
            if let Err(refusal) = limits::check_budget(engine, namespace, command.budget_id).await {
                // A budget that is gone cannot say that it knows the report. One that does not answer may have lost it.
                let is_gone = refusal.code == Code::BudgetNotFound;
                return match is_gone && execution.reports.remembers(command.budget_id, &identity) {
                    true => Ok(Decision::Commit(snapshot, Decided::unchanged(None))),
                    false => Err(refusal),
                };
            }
        }
        let after = decided.draft.execution(id).unwrap_or(execution);
        let left = outbox::outstanding(after, command.budget_id, &identity);
        let left = left.and_then(|effect| {
            let (budget_id, report) = outbox::report_of(after, effect)?;
            Some((effect.id, budget_id, report))
        });
        Ok(Decision::Commit(snapshot, decided.map(|_| left)))
    };
    locked.transact(decide).await
}

/// Effects of a locked execution have arrived.
pub(crate) async fn settle_outbox(locked: &Locked<'_>, id: ExecutionId, arrived: &[Arrived]) -> Result<()> {
    let key = RecordKey::Execution(id);
    let decide = || async {
        let mut snapshot = locked.look(Engine::load_of(id)).await?;
        let ended = snapshot
            .execution(&key)
            .map(|execution| outbox::ended_attempts(execution, arrived))
            .unwrap_or_default();
        if !ended.is_empty() {
            let attempts = ended.into_iter().map(|index| RecordKey::Attempt(id, index));
            let records: Vec<_> = attempts.chain([key.clone()]).collect();
            snapshot = locked.load(Load::records(id.partition(), records).with_gates()).await?;
        }
        let Some(execution) = snapshot.execution(&key) else {
            return Ok(Decision::Commit(snapshot, Decided::unchanged(())));
        };
        let context = Context {
            actor: Actor::Engine,
            ..locked.engine.context_of(&snapshot, execution)
        };
        let decided = outbox::arrived(execution, arrived, &attempts_in(&snapshot), &context);
        Ok(Decision::Commit(snapshot, decided))
    };
    locked.transact(decide).await
}

/// The ended attempts that were read as records of their own.
fn attempts_in(snapshot: &Snapshot) -> Vec<Attempt> {
    let records = snapshot.records.values().map(|(record, _)| record);
    let attempt = |record: &Record| match record {
        Record::Attempt(_, attempt) => Some((**attempt).clone()),
        _ => None,
    };
    records.filter_map(attempt).collect()
}
