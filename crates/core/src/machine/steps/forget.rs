//! What a replay forgets.

use crate::command::steps::KeepSteps;
use crate::error::{Code, Rejection};
use crate::machine::change::Change;
use crate::machine::decided::Write;
use crate::record::{Forgotten, Record, Step};

/// Forgets what is not kept, and counts what is left. `steps` are all there were: what came before this in the same change may have
/// added some.
pub(crate) fn forget(change: &mut Change<'_>, keep: &KeepSteps, steps: &[Step]) -> Result<(), Rejection> {
    let added: Vec<Step> = change.draft.writes.iter().filter_map(added_step).collect();
    let steps = || steps.iter().chain(&added);
    let journal = &change.after.steps;
    let end = journal.next_seq;
    let from = match keep {
        KeepSteps::Done => end,
        KeepSteps::None => 0,
        KeepSteps::Before(key) => {
            let is_meant = |step: &&Step| step.key == *key && !journal.has_forgotten(step);
            let Some(step) = steps().find(is_meant) else {
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
    let live = || steps().filter(|step| !journal.has_forgotten(step));
    let (count, bytes) = (live().count() as u64, live().filter_map(|step| step.output_bytes).sum());
    (journal.count, journal.bytes) = (count, bytes);
    Ok(())
}

fn added_step(write: &Write) -> Option<Step> {
    match write {
        Write::Put(Record::Step(step))
        | Write::Create {
            record: Record::Step(step),
            ..
        } => Some((**step).clone()),
        _ => None,
    }
}
