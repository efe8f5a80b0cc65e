//! What a lease holder has done already: a memo under a name, which whoever runs the execution next finds again.
//!
//! Every recording writes the execution too, so two of them never land side by side, and no place is used twice. Whether a name
//! is taken is the store's to find out: a new step is a record that must not exist.

use std::collections::BTreeSet;

use super::change::Change;
use super::context::Context;
use super::decided::Decided;
use super::fence;
use super::lease::{check_label, check_text};
use crate::command::steps::{RecordSteps, RecordedStep, RecordedSteps, StepReport, StepStatus};
use crate::digest::Digest;
use crate::error::{Code, Rejection};
use crate::limits::{STEP_BYTES_PER_CALL_MAX, STEP_OUTPUT_BYTES_MAX, STEPS_MAX, STEPS_PER_CALL_MAX};
use crate::name::StepKey;
use crate::record::{BlobKey, Carried, Execution, Record, Step, StepKind, StepState};

/// The steps of these names, as far as they were read.
pub trait KnownSteps {
    /// The step of this name; `None`: there is none, or nobody has looked.
    fn step(&self, key: &StepKey) -> Option<&Step>;
}

/// active → active, with what was done and a new expiry.
pub fn record(
    execution: &Execution,
    command: &RecordSteps,
    known: &impl KnownSteps,
    context: &Context,
) -> Result<Decided<RecordedSteps>, Rejection> {
    if command.steps.is_empty() {
        return Err(Code::InvalidInput.because("steps is empty"));
    }
    check_reports(&command.steps, context.settings.payload_bytes_max)?;
    let fence = fence::given(command.fence.as_ref())?;
    let mut change = Change::begin(execution, context)?;
    fence::hold(&mut change, fence)?;
    let steps = add(&mut change, &command.steps, known)?;
    let now = change.now;
    let mut recorded = RecordedSteps {
        steps,
        expires_at: now,
        stop_requested: None,
    };
    if let Some(lease) = change.lease_mut() {
        lease.expires_at = now + lease.ttl;
        recorded.expires_at = lease.expires_at;
        recorded.stop_requested = lease.stop().cloned();
    }
    Ok(change.finish(recorded))
}

/// Refuses what could not be recorded whatever the execution is.
fn check_reports(steps: &[StepReport], output_bytes_max: usize) -> Result<(), Rejection> {
    let (count, max) = (steps.len(), STEPS_PER_CALL_MAX);
    if count > max {
        return Err(Code::BatchTooLarge.because(format!("{count} steps in one call, more than {max}")));
    }
    let bytes: usize = steps
        .iter()
        .filter_map(|step| step.output.as_ref())
        .map(|output| output.len())
        .sum();
    if bytes > STEP_BYTES_PER_CALL_MAX {
        let max = STEP_BYTES_PER_CALL_MAX;
        return Err(Code::PayloadTooLarge.because(format!("{bytes} bytes of outputs in one call, more than {max}")));
    }
    let mut keys = BTreeSet::new();
    for step in steps {
        check_report(step)?;
        let length = step.output.as_ref().map_or(0, |output| output.len());
        if length > output_bytes_max {
            let detail = format!(
                "step {}: its output has {length} bytes, more than {output_bytes_max}",
                step.key
            );
            return Err(Code::PayloadTooLarge.because(detail));
        }
        if !keys.insert(&step.key) {
            return Err(Code::InvalidInput.because(format!("step {} stands there twice", step.key)));
        }
    }
    Ok(())
}

fn check_report(step: &StepReport) -> Result<(), Rejection> {
    let key = &step.key;
    let invalid = |detail: &str| Err(Code::InvalidInput.because(format!("step {key}: {detail}")));
    match step.kind {
        StepKind::Run => {}
        StepKind::Sleep => return invalid("a sleep is recorded by the delay that begins it"),
        StepKind::Wait => return invalid("a wait is recorded by the suspend that begins it"),
        StepKind::Spawn => return invalid("a spawn is recorded with the child that it spawns"),
    }
    match step.state {
        StepState::Waiting => return invalid("waiting is recorded by the suspend that begins it"),
        StepState::Started if step.output.is_some() => return invalid("what has only started has no output"),
        StepState::Failed if step.output.is_some() => return invalid("what failed has no output"),
        StepState::Failed if step.failure.is_none() => return invalid("what failed says why: failure is missing"),
        StepState::Started | StepState::Done if step.failure.is_some() => {
            return invalid("only what failed has a failure");
        }
        StepState::Started | StepState::Done | StepState::Failed => {}
    }
    if let Some(failure) = &step.failure {
        check_text("failure.reason", &failure.reason)?;
    }
    step.input_digest
        .as_ref()
        .map_or(Ok(()), |digest| check_label("input_digest", digest))
}

/// Records steps in a change of the live lease's holder.
pub(crate) fn add(
    change: &mut Change<'_>,
    reports: &[StepReport],
    known: &impl KnownSteps,
) -> Result<Vec<RecordedStep>, Rejection> {
    let mut recorded = Vec::with_capacity(reports.len());
    for report in reports {
        recorded.push(add_one(change, report, known)?);
    }
    check_room(change)?;
    Ok(recorded)
}

fn add_one(change: &mut Change<'_>, report: &StepReport, known: &impl KnownSteps) -> Result<RecordedStep, Rejection> {
    let stored = known.step(&report.key);
    let live = stored.filter(|step| !change.after.steps.has_forgotten(step));
    let content_digest = content_digest(report);
    match (live, report.replaces_seq) {
        (Some(step), _) if step.content_digest == content_digest => {
            let (seq, status) = (step.seq, StepStatus::Already);
            return Ok(RecordedStep { seq, status });
        }
        (Some(step), replaces) if replaces != Some(step.seq) => return Err(conflict(change, step)),
        (None, Some(seq)) => return Err(not_found(change, &report.key, seq)),
        (Some(_), _) | (None, None) => {}
    }
    let (id, now) = (change.after.id, change.now);
    let journal = &mut change.after.steps;
    let seq = journal.next_seq;
    journal.next_seq += 1;
    journal.count += u64::from(live.is_none());
    journal.bytes -= live.and_then(|step| step.output_bytes).unwrap_or(0).min(journal.bytes);
    journal.bytes += report.output.as_ref().map_or(0, |output| output.len() as u64);
    let attempt = change.after.attempt.as_ref();
    let step = Step {
        execution_id: id,
        key: report.key.clone(),
        seq,
        kind: report.kind,
        state: report.state,
        attempt_index: attempt.map_or(0, |attempt| attempt.index),
        lease_epoch: change.after.lease_epoch,
        recorded_at: now,
        started_at: report.started_at,
        output_bytes: report.output.as_ref().map(|output| output.len() as u64),
        content_digest,
        input_digest: report.input_digest.clone(),
        failure: report.failure.clone(),
        usage: Default::default(),
        until: None,
        resumed_by: None,
        signals: Vec::new(),
        child: None,
        carried: stored.map_or_else(Carried::default, |step| step.carried.clone()),
    };
    match stored {
        Some(_) => change.draft.put(Record::from(step)),
        None => change.draft.create(Record::from(step)),
    }
    let blob = |output: &crate::payload::Payload| (BlobKey::Step(id, seq), output.clone());
    change.draft.blobs.extend(report.output.as_ref().map(blob));
    let status = StepStatus::Recorded;
    Ok(RecordedStep { seq, status })
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

fn check_room(change: &Change<'_>) -> Result<(), Rejection> {
    let (before, after) = (&change.before().steps, &change.after.steps);
    if after.count <= STEPS_MAX && after.bytes <= STEP_OUTPUT_BYTES_MAX {
        return Ok(());
    }
    let id = change.after.id;
    let (steps, bytes) = (STEPS_MAX - before.count, STEP_OUTPUT_BYTES_MAX - before.bytes);
    let detail = format!(
        "execution {id} has room for {steps} more steps and {bytes} more bytes: spawn a child for the rest, or put a loop \
         inside one step"
    );
    Err(Code::StepLimitExceeded
        .because(detail)
        .with("steps_left", steps)
        .with("bytes_left", bytes))
}

fn conflict(change: &Change<'_>, step: &Step) -> Rejection {
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
