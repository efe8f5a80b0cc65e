//! What steps refer to: signals, which live as long as the execution, and children as they stand now.

use ff_backend::load::{Load, Snapshot};
use ff_core::command::steps::{ChildView, StepSignalView};
use ff_core::fabric::Result;
use ff_core::id::{ExecutionId, SignalId};
use ff_core::partition::Partition;
use ff_core::record::{BlobKey, Execution, OutcomeKind, RecordKey, Step};
use ff_core::state::public_state;
use ff_core::view::SignalView;

use crate::engine::Engine;
use crate::snapshots::merge;

/// Signals up to which what came with them is read together with them: it fits into one page.
const SIGNALS_AT_ONCE_MAX: usize = 16;

/// Reads what the last wait of a handler refers to, which is known before its step is read.
pub(super) fn load_of_last_wait(execution: &Execution) -> Load {
    let last = execution.resumed.as_ref().filter(|resumed| resumed.step_seq.is_some());
    let signals = last.map_or(&[][..], |resumed| &resumed.signals);
    let signals = signals.iter().map(|signal| (execution.id, *signal)).collect();
    load_of(execution.id.partition(), signals, [])
}

/// Reads the records that these steps refer to and that are not there yet.
pub(super) async fn read_records(engine: &Engine, steps: &[Step], snapshot: &mut Snapshot) -> Result<()> {
    let is_missing = |key: &RecordKey| !snapshot.records.contains_key(key);
    let children = steps.iter().filter_map(|step| step.child).map(RecordKey::Execution);
    let signals = steps.iter().flat_map(signals_in);
    let signals = signals.filter(|(id, signal)| is_missing(&RecordKey::Signal(*id, *signal)));
    let load = load_of(snapshot.partition, signals.collect(), children.filter(is_missing));
    if !load.records.is_empty() {
        merge(snapshot, engine.store().load(load).await?);
    }
    Ok(())
}

fn load_of(
    partition: Partition,
    signals: Vec<(ExecutionId, SignalId)>,
    children: impl IntoIterator<Item = RecordKey>,
) -> Load {
    let records = signals.iter().map(|(id, signal)| RecordKey::Signal(*id, *signal));
    let load = Load::records(partition, records.chain(children).collect::<Vec<_>>());
    match signals.len() <= SIGNALS_AT_ONCE_MAX {
        true => load.with_blobs(signals.into_iter().map(|(id, signal)| BlobKey::Signal(id, signal))),
        false => load,
    }
}

fn signals_in(step: &Step) -> impl Iterator<Item = (ExecutionId, SignalId)> {
    let id = step.execution_id;
    step.signals.iter().map(move |counted| (id, counted.signal_id))
}

/// Bytes of what came with the signals and the child of a step.
pub(super) fn bytes_of(step: &Step, snapshot: &Snapshot) -> u64 {
    let signals = signals_in(step).filter_map(|(id, signal)| snapshot.signal(&RecordKey::Signal(id, signal)));
    let result = step.child.and_then(|child| result_bytes(child, snapshot));
    signals.map(|signal| signal.payload_bytes).sum::<u64>() + result.unwrap_or(0)
}

/// Where that is.
pub(super) fn blobs_of(steps: &[Step], snapshot: &Snapshot) -> Vec<BlobKey> {
    let signals = steps.iter().flat_map(signals_in);
    let with_payload = signals.filter(|(id, signal)| {
        let signal = snapshot.signal(&RecordKey::Signal(*id, *signal));
        signal.is_some_and(|signal| signal.payload_bytes > 0)
    });
    let children = steps.iter().filter_map(|step| step.child);
    let with_result = children.filter(|child| result_bytes(*child, snapshot).is_some());
    let signals = with_payload.map(|(id, signal)| BlobKey::Signal(id, signal));
    signals.chain(with_result.map(BlobKey::Result)).collect()
}

/// The signals that counted in a wait; one whose record is gone is left out.
pub(super) fn signals_of(step: &Step, snapshot: &Snapshot) -> Vec<StepSignalView> {
    let id = step.execution_id;
    let signals = step.signals.iter().filter_map(|counted| {
        let signal = snapshot.signal(&RecordKey::Signal(id, counted.signal_id))?.clone();
        let payload = snapshot.blobs.get(&BlobKey::Signal(id, signal.id)).cloned();
        Some(StepSignalView {
            waitpoint_key: counted.waitpoint_key.clone(),
            signal: SignalView {
                signal,
                payload: payload.unwrap_or_default(),
            },
        })
    });
    signals.collect()
}

/// The execution that a step started, if it is there.
pub(super) fn child_of<'s>(step: &Step, snapshot: &'s Snapshot) -> Option<&'s Execution> {
    snapshot.execution(&RecordKey::Execution(step.child?))
}

/// A spawned execution as it stands; what it was completed with is there if it was read.
pub(super) fn child_view(execution_id: ExecutionId, snapshot: &Snapshot) -> ChildView {
    let child = snapshot.execution(&RecordKey::Execution(execution_id));
    let outcome = child.and_then(Execution::outcome);
    ChildView {
        execution_id,
        public_state: child.map(public_state),
        failure: outcome.and_then(|outcome| outcome.failure.clone()),
        result: snapshot.blobs.get(&BlobKey::Result(execution_id)).cloned(),
    }
}

/// Bytes of what a child was completed with, if its last end was a success that left something.
fn result_bytes(child: ExecutionId, snapshot: &Snapshot) -> Option<u64> {
    let child = snapshot.execution(&RecordKey::Execution(child))?;
    let outcome = child.outcome()?;
    let success = child.success.filter(|_| outcome.kind == OutcomeKind::Success)?;
    success.result_bytes
}
