//! What replays forget.

use ff_core::command::steps::KeepSteps;
use ff_core::record::{Execution, OutcomeKind, Step, StepState};

use super::Asked;
use crate::invariants::mirror::Mirror;
use crate::invariants::{Holds, hold};

/// A replay leaves what somebody asked it to leave; nothing else forgets anything.
pub(super) fn check(mirror: &Mirror, (before, after): (&Execution, &Execution), asked: &Asked) -> Holds {
    let id = after.id;
    if after.counts.replays == before.counts.replays {
        return hold(
            before.steps.forgotten == after.steps.forgotten,
            "only a replay forgets steps",
            || format!("{id} has forgotten {:?}", after.steps.forgotten),
        );
    }
    let all = mirror.steps.get(&id).into_iter().flat_map(|steps| steps.values());
    let live: Vec<&Step> = all
        .map(AsRef::as_ref)
        .filter(|step| !before.steps.has_forgotten(step))
        .collect();
    let mut left: Vec<u64> = mirror.live_steps(after).iter().map(|step| step.seq).collect();
    left.sort_unstable();
    let keeps = asked.replays.get(&id).into_iter().flatten();
    let mut allowed = keeps.filter_map(|keep| kept(before, &live, keep.as_ref()));
    hold(
        allowed.any(|kept| kept == left),
        "a replay forgets what it was asked to",
        || {
            let asked = asked.replays.get(&id);
            format!("{id} had {live:?}, was asked to keep {asked:?}, and keeps {left:?}")
        },
    )
}

/// The places of the steps that such a replay leaves; `None`: it would have been refused.
fn kept(before: &Execution, live: &[&Step], keep: Option<&KeepSteps>) -> Option<Vec<u64>> {
    let succeeded = before
        .outcome()
        .is_some_and(|outcome| outcome.kind == OutcomeKind::Success);
    let end = match keep {
        Some(KeepSteps::None) => 0,
        Some(KeepSteps::Done) => u64::MAX,
        Some(KeepSteps::Before(key)) => live.iter().find(|step| step.key == *key)?.seq,
        None if succeeded => 0,
        None => u64::MAX,
    };
    let kept = live
        .iter()
        .filter(|step| step.seq < end && step.state != StepState::Failed);
    let mut kept: Vec<u64> = kept.map(|step| step.seq).collect();
    kept.sort_unstable();
    Some(kept)
}
