//! A request acts once: repeated, it ends nothing but the lease or the suspension it ended first.
//!
//! Whoever asks gives every request a reason of its own, which the history tells.

use std::collections::BTreeMap;

use ff_core::id::ExecutionId;
use ff_core::limits::REQUESTS_REMEMBERED_MAX;
use ff_core::record::{Happening, HistorySubject};

use super::mirror::{Changes, Mirror};
use super::{Holds, hold};

/// What requests did, as far as the store has not forgotten it.
#[derive(Clone, Default)]
pub(crate) struct Deeds {
    /// How many requests of its execution had acted when this one did.
    acted: BTreeMap<(ExecutionId, &'static str, String), usize>,
    /// Requests that acted, by execution.
    requests: BTreeMap<ExecutionId, usize>,
}

/// Takes over what requests did in a transaction.
pub(crate) fn observe(mirror: &mut Mirror, changes: &Changes) -> Holds {
    let submitted = changes
        .executions
        .iter()
        .filter(|transition| transition.before.is_none());
    for id in submitted.filter_map(|transition| Some(transition.after.as_ref()?.id)) {
        mirror.deeds.acted.retain(|(of, ..), _| *of != id);
    }
    for line in &changes.history {
        let HistorySubject::Execution(id) = line.subject else {
            continue;
        };
        let remembered = matches!(
            line.what,
            Happening::LeaseRevoked | Happening::Resumed | Happening::Replayed | Happening::WaitpointCreated
        );
        if !remembered {
            continue;
        }
        let Deeds { acted, requests } = &mut mirror.deeds;
        let count = requests.entry(id).or_default();
        *count += 1;
        let Some(reason) = line.detail.as_deref().filter(|reason| is_of_a_request(reason)) else {
            continue;
        };
        let first = acted.insert((id, line.what.as_str(), reason.to_owned()), *count);
        // As many others later an execution need not know of it any more.
        let forgotten = first.is_none_or(|first| *count - first > REQUESTS_REMEMBERED_MAX);
        hold(forgotten, "a repeated request acts once", || {
            format!("{id}: {:?} {reason:?} acted again, at {}", line.what, line.at)
        })?;
    }
    Ok(())
}

/// The reason of a request, which nobody else gives.
pub fn reason_of(request: &str) -> String {
    format!("{MARK}{request}")
}

fn is_of_a_request(reason: &str) -> bool {
    reason.starts_with(MARK)
}

const MARK: &str = "asked as ";
