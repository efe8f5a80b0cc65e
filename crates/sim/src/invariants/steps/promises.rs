//! What a lease holder was told is recorded stays recorded, at the place that was said.

use std::collections::BTreeMap;
use std::sync::Arc;

use ff_backend::load::Load;
use ff_core::command::steps::{RecordedStep, StepReport, StepStatus};
use ff_core::id::ExecutionId;
use ff_core::name::StepKey;
use ff_core::payload::Payload;
use ff_core::record::{BlobKey, Execution, Fence, Step, StepKind};

use super::{Asked, landing};
use crate::invariants::mirror::{Changes, Mirror};
use crate::invariants::watch::Store;
use crate::invariants::{Holds, hold};

const LOST: &str = "an acknowledged step is never lost";

/// Steps on their way.
#[derive(Clone, Debug)]
pub struct SentSteps {
    /// Of which execution.
    pub id: ExecutionId,
    /// Under which lease.
    pub fence: Fence,
    /// What is to be recorded.
    pub steps: Vec<StepReport>,
    /// Failovers there had been when they were sent: after another one nobody need know of them.
    pub(crate) failovers: u64,
}

/// Every step that somebody was told of, by its place.
#[derive(Default)]
pub(crate) struct StepPromises(BTreeMap<ExecutionId, BTreeMap<u64, Promise>>);

struct Promise {
    step: Arc<Step>,
    output: Option<Payload>,
}

impl StepPromises {
    /// An execution was submitted. Another one may have had its id before.
    pub(crate) fn observe(&mut self, changes: &Changes) {
        for transition in changes.executions.iter().filter(|change| change.before.is_none()) {
            if let Some(after) = &transition.after {
                self.0.remove(&after.id);
            }
        }
    }

    /// A holder was told where its steps are.
    pub(crate) fn recorded(&mut self, mirror: &Mirror, sent: &SentSteps, answers: &[RecordedStep]) -> Holds {
        if !is_known(mirror, sent) {
            return Ok(());
        }
        let id = sent.id;
        for (report, answer) in sent.steps.iter().zip(answers) {
            let seq = answer.seq;
            let place = mirror.places.get(&id).and_then(|places| places.get(&seq));
            let Some(step) = place.filter(|step| step.key == report.key && is_content(report, step)) else {
                return hold(false, LOST, || {
                    format!("{id}: {report:?} was acknowledged at {seq}, where {place:?} is")
                });
            };
            let by_this = answer.status == StepStatus::Already || step.lease_epoch == sent.fence.lease_epoch;
            hold(by_this, "no step is recorded by two leases", || {
                let (epoch, other) = (sent.fence.lease_epoch, step.lease_epoch);
                format!("{id}: epoch {epoch} was told that it recorded {report:?}, which epoch {other} did")
            })?;
            self.promise(mirror, step, report.output.clone())?;
        }
        Ok(())
    }

    /// A holder was told that its lease ended with these steps. Whoever wanted to end it in several ways does not know which.
    pub(crate) fn ended(&mut self, mirror: &Mirror, sent: &SentSteps, asked: &Asked) -> Holds {
        if !is_known(mirror, sent) || !asked.ends_once(sent.id, sent.fence) {
            return Ok(());
        }
        let id = sent.id;
        for report in &sent.steps {
            let step = last_place(mirror, id, |step| step.key == report.key && is_content(report, step));
            let Some(step) = step else {
                return hold(false, LOST, || {
                    format!("{id}: {report:?} came with the end of a lease and is not there")
                });
            };
            self.promise(mirror, step, report.output.clone())?;
        }
        Ok(())
    }

    /// A holder was told that it sleeps, or has waited, under this name.
    pub(crate) fn paused(
        &mut self,
        mirror: &Mirror,
        (sent, asked): (&SentSteps, &Asked),
        (key, kind): (&StepKey, StepKind),
    ) -> Holds {
        if !is_known(mirror, sent) || !asked.ends_once(sent.id, sent.fence) {
            return Ok(());
        }
        let id = sent.id;
        match last_place(mirror, id, |step| step.key == *key && step.kind == kind) {
            Some(step) => self.promise(mirror, step, None),
            None => hold(false, LOST, || {
                format!("{id}: {kind:?} {key} was acknowledged and is not there")
            }),
        }
    }

    fn promise(&mut self, mirror: &Mirror, step: &Arc<Step>, output: Option<Payload>) -> Holds {
        is_there(mirror, step)?;
        let promise = Promise {
            step: Arc::clone(step),
            output,
        };
        let of_execution = self.0.entry(step.execution_id).or_default();
        of_execution.insert(step.seq, promise);
        Ok(())
    }

    /// A failover put the store back to `mirror`.
    pub(crate) fn lose(&mut self, mirror: &Mirror) {
        for (id, promises) in &mut self.0 {
            let places = mirror.places.get(id);
            promises.retain(|seq, promise| places.and_then(|places| places.get(seq)) == Some(&promise.step));
        }
    }

    /// Everything that was acknowledged is there.
    pub(crate) fn check_all(&self, mirror: &Mirror) -> Holds {
        let promises = self.0.values().flat_map(BTreeMap::values);
        promises
            .into_iter()
            .try_for_each(|promise| is_there(mirror, &promise.step))
    }

    /// What the step at a place left, as far as somebody was told that it is kept.
    pub(super) fn output(&self, id: ExecutionId, seq: u64) -> Option<&Option<Payload>> {
        Some(&self.0.get(&id)?.get(&seq)?.output)
    }

    /// What the acknowledged steps left can be read.
    pub(crate) fn outputs_are_there(&self, mirror: &Mirror, store: &Store) -> Holds {
        for promise in self.0.values().flat_map(BTreeMap::values) {
            let (id, seq) = (promise.step.execution_id, promise.step.seq);
            let kept = mirror.executions.get(&id);
            let kept = kept.is_some_and(|execution| !landing::is_going(mirror, execution));
            let key = BlobKey::Step(id, seq);
            let mut snapshot = store.load(Load::records(id.partition(), []).with_blobs([key]));
            let stored = snapshot.blobs.remove(&key);
            hold(
                !kept || stored == promise.output,
                "an acknowledged output is kept",
                || format!("{id}: the step at {seq} left {:?}, and has {stored:?}", promise.output),
            )?;
        }
        Ok(())
    }
}

/// Whether what was sent can still be known: its execution is there, and no failover came between.
fn is_known(mirror: &Mirror, sent: &SentSteps) -> bool {
    let execution = mirror.executions.get(&sent.id);
    mirror.failovers == sent.failovers
        && execution.is_some_and(|execution| {
            execution.lease_epoch >= sent.fence.lease_epoch
                && !landing::is_going(mirror, execution)
                && began_under(sent.fence, execution)
        })
}

/// Whether an attempt is of this execution, and not of one that had its id before: its own id says when it began.
fn began_under(fence: Fence, execution: &Execution) -> bool {
    let began = fence.attempt_id.uuid().get_timestamp().map(|began| began.to_unix());
    let began = began.map(|(seconds, nanos)| seconds * 1_000 + u64::from(nanos / 1_000_000));
    began.is_some_and(|began| began >= execution.definition.created_at.as_millis())
}

/// The last step that was ever recorded of those that are meant.
fn last_place(mirror: &Mirror, id: ExecutionId, is_meant: impl Fn(&Step) -> bool) -> Option<&Arc<Step>> {
    let places = mirror.places.get(&id)?;
    places.values().rev().find(|step| is_meant(step))
}

/// Outputs of different content have different lengths here.
fn is_content(report: &StepReport, step: &Step) -> bool {
    let output_bytes = report.output.as_ref().map(|output| output.len() as u64);
    (report.kind, report.state, output_bytes) == (step.kind, step.state, step.output_bytes)
        && report.failure == step.failure
        && report.input_digest == step.input_digest
}

/// Whether a step is where it was recorded, unless a replay forgot it, another one replaced it, or its execution goes.
fn is_there(mirror: &Mirror, step: &Arc<Step>) -> Holds {
    let (id, seq, key) = (step.execution_id, step.seq, &step.key);
    let Some(execution) = mirror.executions.get(&id) else {
        return Ok(());
    };
    let last = last_place(mirror, id, |other| other.key == *key);
    let excused = landing::is_going(mirror, execution)
        || execution.steps.has_forgotten(step)
        || last.is_some_and(|last| last.seq > seq);
    let stored = mirror.steps.get(&id).and_then(|steps| steps.get(key));
    hold(excused || stored == Some(step), LOST, || {
        format!("{id}: step {key} was acknowledged at {seq}, and {stored:?} is there")
    })
}
