//! record_steps, and the steps that every call of a holder may bring.

use super::charge::charge;
use super::check::check_reports;
use crate::command::steps::{RecordSteps, RecordedStep, RecordedSteps, StepReport, StepStatus};
use crate::digest::Digest;
use crate::error::{Code, Rejection};
use crate::machine::change::Change;
use crate::machine::context::Context;
use crate::machine::decided::Decided;
use crate::machine::fence;
use crate::machine::lease::note_progress;
use crate::name::StepKey;
use crate::payload::Payload;
use crate::record::{BlobKey, Carried, Execution, Record, Step};

/// active → active, with what was done and a new expiry.
pub fn record(
    execution: &Execution,
    command: &RecordSteps,
    context: &Context,
) -> Result<Decided<RecordedSteps>, Rejection> {
    if command.steps.is_empty() {
        return Err(Code::InvalidInput.because("steps is empty"));
    }
    let fence = fence::given(command.fence.as_ref())?;
    let mut change = Change::begin(execution, context)?;
    fence::hold(&mut change, fence)?;
    let steps = add(&mut change, &command.steps)?;
    if let Some(progress) = &command.progress {
        note_progress(&mut change, progress)?;
    }
    let now = change.now;
    let mut recorded = RecordedSteps {
        steps,
        expires_at: now,
        stop_requested: None,
        budgets: Vec::new(),
    };
    if let Some(lease) = change.lease_mut() {
        lease.expires_at = now + lease.ttl;
        recorded.expires_at = lease.expires_at;
        recorded.stop_requested = lease.stop().cloned();
    }
    Ok(change.finish(recorded))
}

/// Records steps in a change of the live lease's holder.
pub(crate) fn add(change: &mut Change<'_>, reports: &[StepReport]) -> Result<Vec<RecordedStep>, Rejection> {
    add_beside(change, reports, None)
}

/// The same in a call that begins a sleep or a wait under a name of its own.
pub(crate) fn add_beside(
    change: &mut Change<'_>,
    reports: &[StepReport],
    pause: Option<&StepKey>,
) -> Result<Vec<RecordedStep>, Rejection> {
    check_reports(reports, pause, change.context.settings.payload_bytes_max)?;
    let mut recorded = Vec::with_capacity(reports.len());
    for report in reports {
        recorded.push(add_one(change, report)?);
    }
    check_room(change)?;
    charge(change, reports, &recorded)?;
    Ok(recorded)
}

fn add_one(change: &mut Change<'_>, report: &StepReport) -> Result<RecordedStep, Rejection> {
    let live = live(change, &report.key).cloned();
    let content_digest = content_digest(report);
    match (&live, report.replaces_seq) {
        (Some(step), _) if step.content_digest == content_digest => return Ok(already(step)),
        (Some(step), replaces) if replaces != Some(step.seq) => return Err(conflict(change, step)),
        (None, Some(seq)) => return Err(not_found(change, &report.key, seq)),
        (Some(_), _) | (None, None) => {}
    }
    let step = Step {
        kind: report.kind,
        state: report.state,
        started_at: report.started_at,
        output_bytes: report.output.as_ref().map(|output| output.len() as u64),
        content_digest,
        input_digest: report.input_digest.clone(),
        failure: report.failure.clone(),
        usage: change.context.steps.charged(&report.usage),
        ..next_step(change, report.key.clone())
    };
    Ok(write(change, step, report.output.clone()))
}

/// The step of this name, unless a replay has forgotten it.
pub(super) fn live<'c>(change: &'c Change<'_>, key: &StepKey) -> Option<&'c Step> {
    let stored = change.context.steps.stored(key)?;
    (!change.after.steps.has_forgotten(stored)).then_some(stored)
}

/// A step of the holder's at the next place, with nothing else said.
pub(super) fn next_step(change: &mut Change<'_>, key: StepKey) -> Step {
    let seq = change.after.steps.next_seq;
    change.after.steps.next_seq += 1;
    step_at(change, key, seq)
}

/// A step of the current attempt at a place it was given before.
pub(super) fn step_at(change: &Change<'_>, key: StepKey, seq: u64) -> Step {
    Step {
        execution_id: change.after.id,
        key,
        seq,
        kind: Default::default(),
        state: Default::default(),
        attempt_index: change.after.attempt.as_ref().map_or(0, |attempt| attempt.index),
        lease_epoch: change.after.lease_epoch,
        recorded_at: change.now,
        started_at: None,
        output_bytes: None,
        content_digest: String::new(),
        input_digest: None,
        failure: None,
        usage: Default::default(),
        until: None,
        resumed_by: None,
        signals: Vec::new(),
        child: None,
        carried: Carried::default(),
    }
}

/// Counts a step and writes it, in the place of the one of its name if there is one.
pub(super) fn write(change: &mut Change<'_>, mut step: Step, output: Option<Payload>) -> RecordedStep {
    let replaced = live(change, &step.key).map(|live| live.output_bytes.unwrap_or(0));
    let journal = &mut change.after.steps;
    journal.count += u64::from(replaced.is_none());
    journal.bytes = journal.bytes.saturating_sub(replaced.unwrap_or(0)) + step.output_bytes.unwrap_or(0);
    let (id, seq) = (step.execution_id, step.seq);
    let blob = output.map(|output| (BlobKey::Step(id, seq), output));
    change.draft.blobs.extend(blob);
    match change.context.steps.stored(&step.key) {
        Some(stored) => {
            step.carried = stored.carried.clone();
            change.draft.put(Record::from(step));
        }
        None => change.draft.create(Record::from(step)),
    }
    let status = StepStatus::Recorded;
    RecordedStep { seq, status }
}

pub(super) const fn already(step: &Step) -> RecordedStep {
    let (seq, status) = (step.seq, StepStatus::Already);
    RecordedStep { seq, status }
}

/// What a repetition must say again to be one.
fn content_digest(report: &StepReport) -> String {
    let kind_and_state = format!("{:?} {:?}", report.kind, report.state);
    let (content_type, bytes): (&str, &[u8]) = match &report.output {
        Some(output) => (output.content_type.as_str(), &output.bytes),
        None => ("", &[]),
    };
    let failure = report.failure.as_ref();
    let category = failure.map_or("", |failure| failure.category.as_str());
    let reason = failure.map_or("", |failure| failure.reason.as_str());
    let input = report.input_digest.as_deref().unwrap_or_default();
    let texts = [kind_and_state.as_str(), content_type, category, reason, input];
    let parts = texts.iter().map(|text| text.as_bytes()).chain([bytes]);
    Digest::of("step", parts).to_string()
}

/// Refuses what does not fit any more.
pub(crate) fn check_room(change: &Change<'_>) -> Result<(), Rejection> {
    let (before, after, settings) = (&change.before().steps, &change.after.steps, &change.context.settings);
    let (steps_max, bytes_max) = (settings.steps_max, settings.step_output_bytes_max);
    if after.count <= steps_max && after.bytes <= bytes_max {
        return Ok(());
    }
    let id = change.after.id;
    let steps = steps_max.saturating_sub(before.count);
    let bytes = bytes_max.saturating_sub(before.bytes);
    let detail = format!(
        "execution {id} has room for {steps} more steps and {bytes} more bytes: spawn a child for the rest, or put a loop \
         inside one step"
    );
    Err(Code::StepLimitExceeded
        .because(detail)
        .with("steps_left", steps)
        .with("bytes_left", bytes))
}

pub(super) fn conflict(change: &Change<'_>, step: &Step) -> Rejection {
    let (id, key, seq, at) = (change.after.id, &step.key, step.seq, step.recorded_at);
    let (kind, attempt) = (step.kind, step.attempt_index);
    let detail = format!(
        "execution {id}: step {key} was recorded with other content ({kind:?}, at {at}, by attempt {attempt}): give it \
         another name, or say which place it replaces"
    );
    Code::StepConflict
        .because(detail)
        .with("key", key.as_str())
        .with("seq", seq)
}

fn not_found(change: &Change<'_>, key: &StepKey, seq: u64) -> Rejection {
    let id = change.after.id;
    Code::StepNotFound
        .because(format!("execution {id} has no step {key} at place {seq}"))
        .with("key", key.as_str())
        .with("seq", seq)
}
