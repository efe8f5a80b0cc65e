//! Everything the pump does, by name: the one table of it.

use ff_core::fabric::Result;

use super::follow_up::Progress;
use crate::engine::Engine;

macro_rules! duties {
    ($($variant:ident, $name:literal, [$($file:literal),+]: $due:literal => $effect:literal;)+) => {
        /// One thing the pump does.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Duty {
            $(
                #[doc = concat!($due, ": ", $effect, ".")]
                $variant,
            )+
        }

        impl Duty {
            /// Every duty there is.
            pub const ALL: &[Duty] = &[$(Duty::$variant,)+];

            /// The stable name, for logs and metrics.
            pub const fn as_str(self) -> &'static str {
                match self { $(Duty::$variant => $name,)+ }
            }
        }

        /// The rows of the page about the pump.
        #[cfg(test)]
        pub(super) const ROWS: &[Row] = &[$(
            Row { duty: Duty::$variant, due: $due, effect: $effect, files: &[$($file),+] },
        )+];
    };
}

/// What the page about the pump says of a duty.
#[cfg(test)]
pub(super) struct Row {
    pub(super) duty: Duty,
    pub(super) due: &'static str,
    pub(super) effect: &'static str,
    pub(super) files: &'static [&'static str],
}

// Variant, name, files: what is due => what happens.
duties! {
    DelayOver, "delay_over", ["timers.rs"]:
        "a delay or backoff is over" => "eligible again at its old place";
    GrantLapsed, "grant_lapsed", ["timers.rs", "outbox.rs"]:
        "a grant lapsed" => "back to eligible, its quota slot given back through the outbox";
    LeaseExpired, "lease_expired", ["timers.rs"]:
        "a lease expired, or the reclaim grace after it" => "reclaimable, then back to its lane";
    AttemptTimeout, "attempt_timeout", ["timers.rs"]:
        "an attempt used up its time under leases that were used" =>
            "it fails with category `timeout`; the retry policy applies";
    ExecutionDeadline, "execution_deadline", ["timers.rs"]:
        "a deadline passed" => "terminal `expired`";
    SuspensionTimeout, "suspension_timeout", ["timers.rs"]:
        "a suspension timed out" => "as its `timeout_behavior` says";
    WaitpointExpired, "waitpoint_expired", ["waitpoints.rs"]:
        "a pending waitpoint expired" => "closed, `never_committed`";
    BudgetReset, "budget_reset", ["budgets.rs", "releases.rs"]:
        "a budget was reset, raised or deleted" => "blocked work released";
    QuotaWindowMoved, "quota_window_moved", ["quotas.rs", "releases.rs"]:
        "a quota window moved" => "blocked work released as fits";
    SlotFreed, "slot_freed", ["quotas.rs", "releases.rs"]:
        "a slot of a quota without a rate was freed" => "blocked work released as fits";
    StopSweep, "stop_sweep", ["stops.rs", "timers.rs"]:
        "a `cancel_active` budget was breached, or opens again" =>
            "what runs is asked to stop, and cancelled 30 s later; or told that it may go on";
    ClosedBudgetQueue, "closed_budget_queue", ["closed_budgets.rs"]:
        "a budget is closed" => "what is queued under it is shown as blocked by it";
    ResolveEdges, "resolve_edges", ["follow_up/edges.rs"]:
        "a member ended" => "its outbound edges are resolved";
    Cascade, "cascade", ["follow_up/evaluate.rs"]:
        "a member was nudged" => "it is decided from the counters of its group";
    SiblingCancel, "sibling_cancel", ["follow_up/siblings.rs"]:
        "a group was decided" => "upstreams it no longer needs are cancelled";
    Reopen, "reopen", ["follow_up/reopen.rs"]:
        "a member was replayed" => "edges and skipped descendants are reopened";
    FlowOpen, "flow_open", ["follow_up/flow_members.rs"]:
        "a flow was opened" => "its members are let go";
    FlowCancel, "flow_cancel", ["follow_up/flow_members.rs"]:
        "a flow was cancelled" => "its members are cancelled";
    FlowEnd, "flow_end", ["follow_up/evaluate.rs"]:
        "a flow's counters say so" => "it has ended, or goes on";
    Outbox, "outbox", ["outbox.rs"]:
        "an effect waits in an outbox" => "it is sent, then cleared";
    Retention, "retention", ["timers.rs", "follow_up/deletion.rs"]:
        "retention is over" => "reads answer 404, parts go in chunks, the record last";
    FlowRetention, "flow_retention", ["follow_up/evaluate.rs", "follow_up/deletion.rs"]:
        "a flow's retention is over" => "it goes with its members";
    WorkerTtl, "worker_ttl", ["liveness.rs"]:
        "a worker was not heard of" => "it is gone; its leases expire on their own";
    SlotCheck, "slot_check", ["slots.rs"]:
        "a slot nobody holds" => "it is freed";
    LivenessSweep, "liveness_sweep", ["liveness.rs"]:
        "every 10 s" => "what a lost hint may have hidden is looked at";
    AuditSweep, "audit_sweep", ["audit.rs", "recount.rs"]:
        "every 5 min" =>
            "a sample of records is compared with its index entries, its members and edges are counted again; \
             drift is repaired and logged";
    RangeLease, "range_lease", ["ranges.rs"]:
        "every 5 s" => "replicas share the partitions by short leases";
}

impl Duty {
    /// Whether it is done at all; only tests can turn one off.
    pub(crate) fn is_served(self, engine: &Engine) -> bool {
        engine.shared.config.serves(self)
    }

    /// Does it, unless it is turned off: then what is due stays as it is and is pushed back.
    pub(super) async fn serve(self, engine: &Engine, work: impl Future<Output = Result<Progress>>) -> Result<Progress> {
        if !self.is_served(engine) {
            return Ok(Progress::Later);
        }
        let result = work.await;
        let is_later = |progress: &Progress| matches!(progress, Progress::Later);
        engine.shared.metrics.pump.served(self, &result, is_later);
        result
    }
}
