//! What a handler has done stays done.
//!
//! | file | what holds |
//! |---|---|
//! | `landing` | a place names one step, a name has one live one, the live lease records, the execution counts right |
//! | `waits` | a wait has no record before it is over, and one from then on |
//! | `replays` | a replay forgets what it was asked to, and nothing else does |
//! | `promises` | what was acknowledged is there, at the place that was said |
//! | `reading` | readers and tasks are given exactly what is there |

mod landing;
mod promises;
mod reading;
mod replays;
mod waits;

use std::collections::{BTreeMap, BTreeSet};

use ff_core::command::steps::{KeepSteps, StepReport};
use ff_core::id::ExecutionId;
use ff_core::name::StepKey;
use ff_core::record::Fence;
use uuid::Uuid;

pub(crate) use landing::{check, check_all};
pub use promises::SentSteps;
pub(crate) use promises::StepPromises;
pub use reading::Looking;
pub(crate) use reading::{brought, gave, shows};

/// What callers asked for: only that may happen. A failover does not shorten it.
#[derive(Default)]
pub(crate) struct Asked {
    /// Steps somebody wanted to replace, by their places.
    replacements: BTreeSet<(ExecutionId, StepKey, u64)>,
    /// What replays were to keep.
    replays: BTreeMap<ExecutionId, Vec<Option<KeepSteps>>>,
    /// How often somebody wanted to end a lease, each time with steps of its own.
    ends: BTreeMap<(ExecutionId, Uuid), u32>,
}

impl Asked {
    /// Somebody is about to record these.
    pub(crate) fn records(&mut self, id: ExecutionId, steps: &[StepReport]) {
        let replaced = steps.iter().filter_map(|step| Some((step, step.replaces_seq?)));
        let replaced = replaced.map(|(step, seq)| (id, step.key.clone(), seq));
        self.replacements.extend(replaced);
    }

    /// Somebody is about to end a lease with these.
    pub(crate) fn ends(&mut self, id: ExecutionId, fence: Fence, steps: &[StepReport]) {
        self.records(id, steps);
        *self.ends.entry((id, fence.lease_id.expose())).or_default() += 1;
    }

    /// Whether a lease was to be ended once: whoever is told of its end knows what was recorded with it.
    fn ends_once(&self, id: ExecutionId, fence: Fence) -> bool {
        self.ends.get(&(id, fence.lease_id.expose())) == Some(&1)
    }

    /// Somebody is about to replay an execution.
    pub(crate) fn replays(&mut self, id: ExecutionId, keep: Option<KeepSteps>) {
        self.replays.entry(id).or_default().push(keep);
    }
}
