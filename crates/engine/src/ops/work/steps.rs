//! record_steps: new steps are created as records that must not exist. The first try knows of none: whether a name is taken, the
//! commit finds out, and only then are the steps of these names read.

use ff_backend::load::Snapshot;
use ff_core::command::steps::{RecordSteps, RecordedSteps};
use ff_core::fabric::{On, Result};
use ff_core::id::ExecutionId;
use ff_core::machine::steps::{self, KnownSteps};
use ff_core::name::StepKey;
use ff_core::record::{RecordKey, Step};

use super::worker_context;
use crate::engine::Engine;
use crate::transact::Decision;

/// The steps of one execution in a snapshot.
struct Known<'s>(&'s Snapshot, ExecutionId);

impl KnownSteps for Known<'_> {
    fn step(&self, key: &StepKey) -> Option<&Step> {
        self.0.step(&RecordKey::Step(self.1, key.clone()))
    }
}

pub(crate) async fn record_steps(engine: &Engine, command: On<ExecutionId, RecordSteps>) -> Result<RecordedSteps> {
    let On { id, command } = command;
    engine.check_id(id)?;
    let locked = engine.lock_remembered(id).await;
    let decide = || async {
        let mut load = Engine::load_of(id);
        let keys = command.steps.iter().map(|step| step.key.clone());
        load.records.extend(keys.map(|key| RecordKey::Step(id, key)));
        let snapshot = locked.look(load).await?;
        let execution = engine.visible(&snapshot, id)?;
        let context = worker_context(engine, &snapshot, execution);
        let decided = steps::record(execution, &command, &Known(&snapshot, id), &context)?;
        Ok(Decision::Commit(snapshot, decided))
    };
    locked.transact(decide).await
}
