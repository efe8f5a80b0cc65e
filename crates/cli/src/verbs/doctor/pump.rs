//! Whether somebody does what time brings.

use ff_core::error::Code;
use ff_core::fabric::Fabric;
use ff_core::time::{Duration, Timestamp};
use ff_core::view::{ListPartitions, PartitionView};

use super::Finding;
use crate::verbs::when;

/// Work that waits longer is not being done.
const OVERDUE: Duration = Duration::from_secs(60);

/// The parts of the store, and who looks after them.
pub(super) async fn look(fabric: &dyn Fabric, now: Timestamp) -> Option<Finding> {
    match fabric.list_partitions(ListPartitions {}).await {
        Ok(partitions) => Some(judge(&partitions, now)),
        // Told among the permissions.
        Err(refused) if matches!(refused.code, Code::Forbidden | Code::Unauthenticated) => None,
        Err(refused) => Some(Finding::bad("timers", refused.detail, refused.code.help().remedy)),
    }
}

fn judge(partitions: &[PartitionView], now: Timestamp) -> Finding {
    let all = partitions.len();
    let waits = |partition: &PartitionView| now.since(partition.due_since.unwrap_or(now));
    let longest = partitions.iter().map(waits).max().unwrap_or_default();
    let unattended = partitions
        .iter()
        .filter(|partition| partition.pumped_by.is_none())
        .count();
    if longest > OVERDUE {
        let detail = format!(
            "work is overdue for {}; {unattended} of {all} partitions have nobody",
            when::span(longest)
        );
        let advice =
            "A server with the store does what time brings: start one, or look into the log of the one that runs.";
        return Finding::bad("timers", detail, advice);
    }
    if unattended == all && all > 0 {
        let detail = "nobody does what time brings: delays, retries, timeouts";
        return Finding::doubtful("timers", detail, "Start a server with this store: `ff serve`.");
    }
    Finding::good(
        "timers",
        format!(
            "{} of {all} partitions are looked after, nothing is overdue",
            all - unattended
        ),
    )
}
