//! The execution that a holder's call is about, with the steps it names.

use std::collections::BTreeSet;

use ff_backend::load::{Load, Snapshot};
use ff_core::command::steps::StepReport;
use ff_core::error::Code;
use ff_core::fabric::Result;
use ff_core::id::{BudgetId, ExecutionId};
use ff_core::machine::Context;
use ff_core::machine::steps::Around;
use ff_core::name::{Namespace, StepKey};
use ff_core::record::{Execution, RecordKey, Step};

use crate::directory::limits;
use crate::engine::{Engine, as_worker};

/// What a holder's call is about. One without steps reads nothing for them.
pub(crate) struct Held {
    pub(crate) id: ExecutionId,
    steps: Vec<RecordKey>,
    missing_budgets: BTreeSet<BudgetId>,
}

impl From<ExecutionId> for Held {
    fn from(id: ExecutionId) -> Self {
        Self {
            id,
            steps: Vec::new(),
            missing_budgets: BTreeSet::new(),
        }
    }
}

impl Held {
    /// A call that names steps.
    pub(crate) fn naming<'k>(id: ExecutionId, keys: impl Iterator<Item = &'k StepKey>) -> Self {
        Self {
            steps: keys.map(|key| RecordKey::Step(id, key.clone())).collect(),
            ..Self::from(id)
        }
    }

    /// A call that records steps, and perhaps one more under a name of its own.
    pub(crate) async fn recording(
        engine: &Engine,
        id: ExecutionId,
        steps: &[StepReport],
        named: Option<&StepKey>,
    ) -> Result<Self> {
        Ok(Self {
            missing_budgets: missing_budgets(engine, id, steps).await?,
            ..Self::naming(id, steps.iter().map(|step| &step.key).chain(named))
        })
    }

    /// What a decision about it needs.
    pub(crate) fn load(&self) -> Load {
        let mut load = Engine::load_of(self.id);
        load.records.extend(self.steps.iter().cloned());
        load
    }

    /// The steps of these names that were read.
    pub(crate) fn stored<'s>(&'s self, snapshot: &'s Snapshot) -> impl Iterator<Item = &'s Step> {
        self.steps.iter().filter_map(|key| snapshot.step(key))
    }

    /// The circumstances of a decision of the worker that runs it.
    pub(crate) fn context(&self, engine: &Engine, snapshot: &Snapshot, execution: &Execution) -> Context {
        let context = Context {
            steps: Around {
                stored: self.stored(snapshot).cloned().collect(),
                missing_budgets: self.missing_budgets.clone(),
            },
            ..engine.context_of(snapshot, execution)
        };
        as_worker(execution, context)
    }
}

/// The budgets that steps name and the namespace does not have. What was done is recorded all the same: it is paid.
async fn missing_budgets(engine: &Engine, id: ExecutionId, steps: &[StepReport]) -> Result<BTreeSet<BudgetId>> {
    let mut missing = BTreeSet::new();
    let named: BTreeSet<BudgetId> = budgets_of(steps).collect();
    if named.is_empty() {
        return Ok(missing);
    }
    let namespace = namespace_of(engine, id).await?;
    for budget_id in named {
        match limits::check_budget(engine, &namespace, budget_id).await {
            Ok(()) => {}
            Err(refusal) if refusal.code == Code::BudgetNotFound => {
                missing.insert(budget_id);
            }
            Err(refusal) => return Err(refusal),
        }
    }
    Ok(missing)
}

/// The budgets that steps charge.
pub(super) fn budgets_of(steps: &[StepReport]) -> impl Iterator<Item = BudgetId> {
    steps.iter().flat_map(|step| &step.usage).map(|usage| usage.budget_id)
}

async fn namespace_of(engine: &Engine, id: ExecutionId) -> Result<Namespace> {
    if let Some(held) = engine.shared.leases.get(id) {
        return Ok(held.execution.definition.namespace.clone());
    }
    let snapshot = engine.read_execution(id).await?;
    Ok(engine.visible(&snapshot, id)?.definition.namespace.clone())
}
