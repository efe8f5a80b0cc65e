//! The steps of an execution as they are read: with what they left and what they refer to.

mod references;

use std::collections::BTreeSet;

use ff_backend::load::{Load, LoadSteps, Snapshot};
use ff_core::command::steps::{StepUsage, StepView};
use ff_core::fabric::Result;
use ff_core::id::ExecutionId;
use ff_core::machine::steps;
use ff_core::record::{BlobKey, Execution, Journal, Step, StepKind, StepState, WaitStep};

use crate::engine::Engine;
use crate::snapshots::merge;

/// Which steps are read.
#[derive(Clone, Copy)]
pub(crate) struct Ask {
    /// From this place on.
    pub(crate) from_seq: u64,
    /// At most this many.
    pub(crate) limit: usize,
    /// Outputs together, unless the first one is larger; `None`: without outputs and what steps refer to.
    pub(crate) output_bytes: Option<u64>,
    /// Whether those come along that a replay has forgotten.
    pub(crate) forgotten: bool,
}

/// Some steps in their order.
pub(crate) struct Steps {
    pub(crate) items: Vec<StepView>,
    /// Where to go on; `None`: that was all.
    pub(crate) next: Option<u64>,
}

/// What is loaded beside the execution for `ask`.
pub(crate) fn load_for(id: ExecutionId, ask: Ask) -> LoadSteps {
    LoadSteps {
        execution_id: id,
        from_seq: ask.from_seq,
        limit: ask.limit,
        output_bytes: ask.output_bytes.unwrap_or(0),
    }
}

/// The same for who has the execution. What its last wait refers to comes along: whoever goes on after a signal is not kept
/// waiting for another read.
pub(crate) fn load(execution: &Execution, ask: Ask) -> Load {
    let load = references::load_of_last_wait(execution);
    load.with_steps([load_for(execution.id, ask)])
}

/// The steps of `execution` that `snapshot` holds. What a replay has forgotten is left out unless it is asked for.
pub(crate) async fn read(engine: &Engine, execution: &Execution, mut snapshot: Snapshot, ask: Ask) -> Result<Steps> {
    let (id, journal) = (execution.id, &execution.steps);
    let read: Vec<Step> = snapshot.steps(id).into_iter().cloned().collect();
    let mut next = place_after(&read, ask.limit, journal);
    match ask.output_bytes {
        Some(_) => references::read_records(engine, &read, &mut snapshot).await?,
        None => {
            let depends_on_child = |step: &&Step| step.child.is_some() && journal.has_forgotten_failure(step);
            let depending: Vec<Step> = read.iter().filter(depends_on_child).cloned().collect();
            references::read_records(engine, &depending, &mut snapshot).await?;
        }
    }
    let is_forgotten = |step: &Step| !steps::is_remembered(journal, step, references::child_of(step, &snapshot));
    let forgotten: BTreeSet<u64> = read
        .iter()
        .filter(|step| is_forgotten(step))
        .map(|step| step.seq)
        .collect();
    let is_wanted = |step: &Step| ask.forgotten || !forgotten.contains(&step.seq);
    let mut steps: Vec<Step> = read.into_iter().filter(is_wanted).collect();
    if let Some(bytes) = ask.output_bytes {
        let whole = steps_within(bytes, &steps, &snapshot);
        next = steps.get(whole).map(|step| step.seq).or(next);
        steps.truncate(whole);
        read_bytes(engine, &steps, &mut snapshot).await?;
    }
    let mut items: Vec<StepView> = steps
        .into_iter()
        .map(|step| StepView {
            forgotten: forgotten.contains(&step.seq),
            ..view(step, &mut snapshot, ask.output_bytes.is_some())
        })
        .collect();
    let open = execution.suspension().and_then(|suspension| suspension.step.as_ref());
    if let Some(wait) = open.filter(|wait| next.is_none() && wait.seq >= ask.from_seq) {
        items.push(open_wait(execution, wait));
    }
    Ok(Steps { items, next })
}

/// Where to go on after what was read; `None`: there is no more.
fn place_after(read: &[Step], limit: usize, journal: &Journal) -> Option<u64> {
    let last = read.last().filter(|_| read.len() == limit)?;
    Some(last.seq + 1).filter(|seq| *seq < journal.next_seq)
}

/// How many steps fit with all that belongs to them. One always does.
fn steps_within(bytes: u64, steps: &[Step], snapshot: &Snapshot) -> usize {
    let mut left = bytes;
    let fits = |step: &&Step| {
        let size = step.output_bytes.unwrap_or(0) + references::bytes_of(step, snapshot);
        let fits = size <= left;
        left = left.saturating_sub(size);
        fits
    };
    steps.iter().take_while(fits).count().max(1).min(steps.len())
}

/// Reads what is still missing of these steps: an output larger than a page, and what came with signals and children.
async fn read_bytes(engine: &Engine, steps: &[Step], snapshot: &mut Snapshot) -> Result<()> {
    let outputs = steps.iter().filter(|step| step.output_bytes.is_some()).map(blob_of);
    let mut blobs: Vec<BlobKey> = outputs.chain(references::blobs_of(steps, snapshot)).collect();
    blobs.retain(|blob| !snapshot.blobs.contains_key(blob));
    if !blobs.is_empty() {
        let load = Load::records(snapshot.partition, []).with_blobs(blobs);
        merge(snapshot, engine.store().load(load).await?);
    }
    Ok(())
}

fn view(step: Step, snapshot: &mut Snapshot, with_outputs: bool) -> StepView {
    let output = snapshot.blobs.remove(&blob_of(&step)).filter(|_| with_outputs);
    let usage = |(budget_id, deltas)| StepUsage { budget_id, deltas };
    let signals = match with_outputs {
        true => references::signals_of(&step, snapshot),
        false => Vec::new(),
    };
    StepView {
        seq: step.seq,
        kind: step.kind,
        state: step.state,
        forgotten: false,
        attempt_index: step.attempt_index,
        recorded_at: step.recorded_at,
        started_at: step.started_at,
        failure: step.failure,
        output_bytes: step.output_bytes,
        output,
        input_digest: step.input_digest.filter(|_| with_outputs),
        usage: step.usage.into_iter().map(usage).collect(),
        until: step.until,
        resumed_by: step.resumed_by,
        signals,
        child: step.child.map(|child| references::child_view(child, snapshot)),
        key: step.key,
    }
}

/// A wait that is not over.
fn open_wait(execution: &Execution, wait: &WaitStep) -> StepView {
    let since = execution.suspension().map(|suspension| suspension.since);
    StepView {
        seq: wait.seq,
        key: wait.key.clone(),
        kind: StepKind::Wait,
        state: StepState::Waiting,
        forgotten: false,
        attempt_index: execution.attempt.as_ref().map_or(0, |attempt| attempt.index),
        recorded_at: since.unwrap_or(execution.updated_at),
        started_at: None,
        failure: None,
        output_bytes: None,
        output: None,
        input_digest: None,
        usage: Vec::new(),
        until: None,
        resumed_by: None,
        signals: Vec::new(),
        child: None,
    }
}

const fn blob_of(step: &Step) -> BlobKey {
    BlobKey::Step(step.execution_id, step.seq)
}
