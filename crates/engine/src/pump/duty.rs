//! Everything the pump does, by name.

use ff_core::fabric::Result;

use super::follow_up::Progress;
use crate::engine::Engine;

macro_rules! duties {
    ($($(#[$doc:meta])* $variant:ident => $text:literal),+ $(,)?) => {
        /// One thing the pump does.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Duty {
            $($(#[$doc])* $variant,)+
        }

        impl Duty {
            /// Every duty there is.
            pub const ALL: &[Duty] = &[$(Duty::$variant,)+];

            /// The stable name, for logs and metrics.
            pub const fn as_str(self) -> &'static str {
                match self { $(Duty::$variant => $text,)+ }
            }
        }
    };
}

duties! {
    /// A delay or backoff is over: eligible again at its old place.
    DelayOver => "delay_over",
    /// A grant lapsed: back to eligible, the slot goes back through the outbox.
    GrantLapsed => "grant_lapsed",
    /// A lease or its reclaim grace ran out: back to its lane.
    LeaseExpired => "lease_expired",
    /// An attempt used up its leased time.
    AttemptTimeout => "attempt_timeout",
    /// An execution passed its deadline.
    ExecutionDeadline => "execution_deadline",
    /// A suspension was not resumed in time.
    SuspensionTimeout => "suspension_timeout",
    /// A pending waitpoint was not used in time.
    WaitpointExpired => "waitpoint_expired",
    /// A budget was reset, raised or deleted, or its periodic reset has come: what waits for it goes on.
    BudgetReset => "budget_reset",
    /// The window of a quota moved: as much of what waits for it goes on as fits.
    QuotaWindowMoved => "quota_window_moved",
    /// A slot of a quota without a rate was freed: as much of what waits for it goes on as fits.
    SlotFreed => "slot_freed",
    /// A breached budget asks what runs under it to stop, and cancels what does not.
    StopSweep => "stop_sweep",
    /// Work queued under a closed budget moves to where its cause is found.
    ClosedBudgetQueue => "closed_budget_queue",
    /// An ended member resolves the edges out of it.
    ResolveEdges => "resolve_edges",
    /// A member is decided from the counters of its group.
    Cascade => "cascade",
    /// Siblings a decided group no longer needs are cancelled.
    SiblingCancel => "sibling_cancel",
    /// A replay reopens what it had skipped.
    Reopen => "reopen",
    /// The members of an opened flow are let go.
    FlowOpen => "flow_open",
    /// The members of a cancelled flow are cancelled.
    FlowCancel => "flow_cancel",
    /// A flow looks at its counters: it has ended, or goes on.
    FlowEnd => "flow_end",
    /// Effects on other partitions are sent.
    Outbox => "outbox",
    /// An execution nobody needs any more is deleted.
    Retention => "retention",
    /// A flow nobody needs any more is deleted with its members.
    FlowRetention => "flow_retention",
    /// Workers that were not heard of in time are gone; those that were stay registered.
    WorkerTtl => "worker_ttl",
    /// Slots of a quota that nobody holds are freed.
    SlotCheck => "slot_check",
    /// Everything is looked at that a lost hint may have hidden.
    LivenessSweep => "liveness_sweep",
    /// A sample of records is compared with its index entries.
    AuditSweep => "audit_sweep",
    /// Replicas share the partitions.
    RangeLease => "range_lease",
}

impl Duty {
    /// Whether it is done at all; only tests can turn one off.
    pub(crate) fn is_served(self, engine: &Engine) -> bool {
        #[cfg(feature = "switches")]
        let served = !engine.shared.config.disabled.contains(&self);
        #[cfg(not(feature = "switches"))]
        let served = Duty::ALL.contains(&self);
        served
    }

    /// Does it, unless it is turned off: then what is due stays as it is and is pushed back.
    pub(super) async fn serve(self, engine: &Engine, work: impl Future<Output = Result<Progress>>) -> Result<Progress> {
        if !self.is_served(engine) {
            return Ok(Progress::Later);
        }
        work.await
    }
}
