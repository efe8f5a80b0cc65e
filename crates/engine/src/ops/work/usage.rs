//! report_usage: recorded on the attempt, then sent to the budget, then settled with its answer.
//!
//! Whoever sends it — this call, its repetition, or the pump after a crash — sends the same effect under the same identity,
//! so the budget counts it once. A repetition that nobody here remembers is another effect under that identity: the budget
//! says so, and the attempt forgets it again.

use ff_backend::budget::{BudgetAnswer, BudgetCall};
use ff_backend::load::{Load, Snapshot};
use ff_core::command::budget::Reported;
use ff_core::command::lease::ReportUsage;
use ff_core::error::Code;
use ff_core::fabric::{On, Result};
use ff_core::id::{EffectId, ExecutionId};
use ff_core::machine::lease::UsageRecorded;
use ff_core::machine::outbox::{self, Arrived};
use ff_core::machine::{Context, budget, lease};
use ff_core::name::RequestId;
use ff_core::record::{Actor, Attempt, Record, RecordKey};

use super::worker_context;
use crate::engine::Engine;
use crate::fault::internal;
use crate::mint;
use crate::tries::Tries;

/// The effect that waits in the outbox, and what is to be sent of it; `None` when it has arrived.
type Left = Option<(EffectId, BudgetCall)>;

/// The execution stays locked until the outbox is empty again: a pump that locks before it reads does not
/// send the same report at the same time, and the caller gets the budget's first answer.
pub(crate) async fn report_usage(engine: &Engine, command: On<ExecutionId, ReportUsage>) -> Result<Reported> {
    let On { id, mut command } = command;
    engine.check_id(id)?;
    // The tries of a report nobody named are told by a name of this call: each has an effect of its own.
    let own_name = RequestId::parse(mint::secret(engine.host()).simple().to_string())?;
    command.request_id.get_or_insert(own_name);
    let mut tries = engine.tries(RecordKey::Execution(id)).await;
    let Some((effect_id, report)) = record_usage(engine, &mut tries, id, &command).await? else {
        // It was recorded before and has arrived.
        return Ok(Reported::AlreadyApplied);
    };
    let reported = send_usage(engine, report).await?;
    let arrived = Arrived {
        effect_id,
        reported: Some(reported.clone()),
    };
    // Failing to note that fails nobody: the pump sends it again, and the budget recognises it.
    if let Err(refusal) = engine
        .settle_outbox(&mut tries, engine.cached(id), id, &[arrived])
        .await
    {
        tracing::debug!(execution_id = %id, %refusal, "a usage report that arrived stays in the outbox for the pump");
    }
    match reported {
        Reported::Gone => Err(budget::not_found(command.budget_id)),
        reported => Ok(reported),
    }
}

/// Records the report on the attempt, and answers what is left to be sent of it.
async fn record_usage(
    engine: &Engine,
    tries: &mut Tries<'_, Left>,
    id: ExecutionId,
    command: &ReportUsage,
) -> Result<Left> {
    let mut remembered = engine.cached(id);
    let mut checked = false;
    loop {
        let from_memory = remembered.is_some();
        let snapshot = match remembered.take() {
            Some(snapshot) => snapshot,
            None => tries.read(Engine::load_of(id)).await?,
        };
        // Every try has an effect of its own: what a lost one recorded may have arrived already.
        let effect_id = EffectId::from_uuid(engine.mint(snapshot.now));
        let identity = lease::usage_identity(id, command, effect_id);
        let execution = engine.visible(&snapshot, id)?;
        let context = worker_context(engine, &snapshot, execution);
        let step = match lease::report_usage(execution, command, effect_id, &context) {
            Ok(step) if step.outcome == UsageRecorded::Now || !from_memory => step,
            Err(refusal) if !from_memory => return Err(refusal),
            // Neither a refusal nor a repetition is taken from memory.
            Ok(_) | Err(_) => continue,
        };
        if step.outcome == UsageRecorded::Now && !checked {
            let namespace = &execution.definition.namespace;
            if let Err(refusal) = limits::check_budget(engine, namespace, command.budget_id).await {
                // A budget that is gone cannot say that it knows the report. One that does not answer may have lost it.
                let is_gone = refusal.code == Code::BudgetNotFound;
                let was_recorded = is_gone && execution.reports.remembers(command.budget_id, &identity);
                return was_recorded.then_some(None).ok_or(refusal);
            }
            checked = true;
        }
        let after = step.draft.execution(id).unwrap_or(execution);
        let left = outbox::outstanding(after, command.budget_id, &identity);
        let left = left.and_then(|effect| {
            let (budget_id, report) = outbox::report_of(after, effect)?;
            Some((effect.id, BudgetCall::Report { budget_id, report }))
        });
        if let Some(left) = tries.commit(&snapshot, step.map(|_| left)).await? {
            return Ok(left);
        }
    }
}

/// Tells the budget. When that fails the outbox keeps the report, for a repetition or the pump.
async fn send_usage(engine: &Engine, report: BudgetCall) -> Result<Reported> {
    match engine.store().budget(report).await?.1? {
        BudgetAnswer::Reported(reported) => Ok(reported),
        _ => Err(internal("a usage report was answered with something else")),
    }
}

impl Engine {
    /// Effects have arrived. `seen` is the execution as it may still be.
    pub(crate) async fn settle_outbox<O: Default>(
        &self,
        tries: &mut Tries<'_, O>,
        mut seen: Option<Snapshot>,
        id: ExecutionId,
        arrived: &[Arrived],
    ) -> Result<()> {
        let key = RecordKey::Execution(id);
        loop {
            let mut snapshot = match seen.take() {
                Some(snapshot) => snapshot,
                None => tries.read(Self::load_of(id)).await?,
            };
            let Some(execution) = snapshot.execution(&key) else {
                return Ok(());
            };
            let ended = outbox::ended_attempts(execution, arrived);
            if !ended.is_empty() {
                let attempts = ended.into_iter().map(|index| RecordKey::Attempt(id, index));
                let records: Vec<_> = attempts.chain([key.clone()]).collect();
                snapshot = tries.read(Load::records(id.partition(), records).with_gates()).await?;
            }
            let Some(execution) = snapshot.execution(&key) else {
                return Ok(());
            };
            let context = Context {
                actor: Actor::Engine,
                ..self.context_of(&snapshot, execution)
            };
            let step = outbox::arrived(execution, arrived, &attempts_in(&snapshot), &context);
            if tries.commit(&snapshot, step.map(|()| O::default())).await?.is_some() {
                return Ok(());
            }
        }
    }
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
