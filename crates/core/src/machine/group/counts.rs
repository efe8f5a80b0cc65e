//! What is counted over the inbound edges of a child, and what the counters say.

use serde::{Deserialize, Serialize};

use crate::id::ExecutionId;
use crate::machine::decided::Draft;
use crate::record::{CounterKey, EdgeGroupPolicy, GroupCounter};

/// The counters of a group as they were loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "GroupCounts"))]
pub struct Counts {
    /// Applied edges.
    pub applied: u64,
    /// Edges whose upstream has not ended.
    pub unresolved: u64,
    /// Edges whose upstream ended in a way that counts.
    pub satisfied: u64,
    /// Edges whose upstream ended otherwise.
    pub failed: u64,
}

impl Counts {
    /// Collects the counters of a group; `value` reads one of them.
    pub fn read(value: impl Fn(GroupCounter) -> i64) -> Self {
        let count = |counter| u64::try_from(value(counter)).unwrap_or(0);
        Self {
            applied: count(GroupCounter::Applied),
            unresolved: count(GroupCounter::Unresolved),
            satisfied: count(GroupCounter::Satisfied),
            failed: count(GroupCounter::Failed),
        }
    }

    /// These counters of `child`'s group as they will be once `draft` is committed.
    #[must_use]
    pub fn after(&self, child: ExecutionId, draft: &Draft) -> Self {
        let moved = |counter| {
            let key = CounterKey::Group(child, counter);
            draft
                .increments
                .iter()
                .find(|(moved, _)| *moved == key)
                .map_or(0, |(_, by)| *by)
        };
        Self {
            applied: self.applied.saturating_add_signed(moved(GroupCounter::Applied)),
            unresolved: self.unresolved.saturating_add_signed(moved(GroupCounter::Unresolved)),
            satisfied: self.satisfied.saturating_add_signed(moved(GroupCounter::Satisfied)),
            failed: self.failed.saturating_add_signed(moved(GroupCounter::Failed)),
        }
    }

    /// Applied edges that are not satisfied.
    pub const fn unsatisfied(&self) -> u64 {
        self.applied.saturating_sub(self.satisfied)
    }
}

/// What the counters of a group say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Enough upstreams ended in a way that counts.
    Satisfied,
    /// Not decided yet.
    Undecided,
    /// Too many upstreams ended otherwise.
    Impossible,
}

/// Decides a group. A group without edges is satisfied. A quorum larger than its edges waits for more edges until the first
/// of those it has fails.
pub fn verdict(policy: EdgeGroupPolicy, counts: &Counts) -> Verdict {
    let needed = match policy {
        EdgeGroupPolicy::AllOf => counts.applied,
        EdgeGroupPolicy::AnyOf { .. } => 1,
        EdgeGroupPolicy::Quorum { k, .. } => u64::from(k),
    };
    if counts.applied == 0 || counts.satisfied >= needed {
        Verdict::Satisfied
    } else if counts.failed > 0 && counts.failed + needed > counts.applied {
        Verdict::Impossible
    } else {
        Verdict::Undecided
    }
}
