//! What no execution could record, whatever it is.

use std::collections::BTreeSet;

use crate::command::steps::StepReport;
use crate::error::{Code, Rejection};
use crate::limits::{STEP_BYTES_PER_CALL_MAX, STEPS_PER_CALL_MAX};
use crate::machine::lease::{check_label, check_text};
use crate::name::StepKey;
use crate::record::{StepKind, StepState};

/// Refuses what could not be recorded whatever the execution is. `pause` is the name of a sleep or a wait of the same call.
pub(super) fn check_reports(
    steps: &[StepReport],
    pause: Option<&StepKey>,
    output_bytes_max: usize,
) -> Result<(), Rejection> {
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
    let mut keys: BTreeSet<&StepKey> = pause.into_iter().collect();
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
