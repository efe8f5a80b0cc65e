//! What a replay forgets.

use crate::command::steps::KeepSteps;
use crate::error::{Code, Rejection};
use crate::machine::change::Change;
use crate::record::{Forgotten, Step};

/// Forgets what is not kept, and counts what is left. `steps` are all there are.
pub(crate) fn forget(change: &mut Change<'_>, keep: &KeepSteps, steps: &[Step]) -> Result<(), Rejection> {
    let journal = &change.after.steps;
    let end = journal.next_seq;
    let from = match keep {
        KeepSteps::Done => end,
        KeepSteps::None => 0,
        KeepSteps::Before(key) => {
            let is_meant = |step: &&Step| step.key == *key && !journal.has_forgotten(step);
            let Some(step) = steps.iter().find(is_meant) else {
                let id = change.after.id;
                let detail = format!("execution {id} has no step {key}");
                return Err(Code::StepNotFound.because(detail).with("key", key.as_str()));
            };
            step.seq
        }
    };
    let journal = &mut change.after.steps;
    // What is forgotten from here on, and every failure up to now, says all that earlier replays said about those.
    journal
        .forgotten
        .retain(|earlier| !earlier.failed_only && earlier.from < from);
    let before = end;
    journal.forgotten.extend([
        Forgotten {
            from,
            before,
            failed_only: false,
        },
        Forgotten {
            from: 0,
            before,
            failed_only: true,
        },
    ]);
    journal.forgotten.retain(|range| range.from < range.before);
    let journal = &mut change.after.steps;
    let live = || steps.iter().filter(|step| !journal.has_forgotten(step));
    let (count, bytes) = (live().count() as u64, live().filter_map(|step| step.output_bytes).sum());
    (journal.count, journal.bytes) = (count, bytes);
    Ok(())
}
