//! What answers say: a name for each, so that a run can be counted, and whether a repeated call got the same answer.

use ff_core::command::budget::{BudgetCreated, BudgetReset, BudgetView, CreatedBudget, Deleted, Reported, Updated};
use ff_core::command::claim::{Exchanged, IssuedGrant, Task};
use ff_core::command::flow::{
    Applied, CancelProgress, CreatedFlow, FlowCreated, GraphCreated, Joined, MemberCancellation, Opened, Replayed,
    Staged, WaitedChildren,
};
use ff_core::command::key::CreatedKey;
use ff_core::command::lease::{Completed, Failed, LetGo, Renewed};
use ff_core::command::operator::{Cancelled, Changed, Revoked, Tagged};
use ff_core::command::page::Page;
use ff_core::command::quota::{CreatedQuotaPolicy, QuotaCreated, QuotaPolicyView};
use ff_core::command::signal::{Delivered, ResumeOutcome};
use ff_core::command::spawn::SpawnedChildren;
use ff_core::command::steps::{RecordedSteps, StepPage, StepStatus};
use ff_core::command::stream::{AppendedFrame, StreamPage};
use ff_core::command::submit::Created;
use ff_core::command::waitpoint::{IssuedWaitpoint, OpenWaitpoint, ReadToken, SuspendedTask};
use ff_core::error::Rejection;
use ff_core::keyring::{Rotated, RotationStatus};
use ff_core::name::Namespace;
use ff_core::payload::Payload;
use ff_core::record::{CancelFlowPolicy, SavedView, SignalEffect, Worker};
use ff_core::view::{
    Events, ExecutionPage, ExecutionView, Explanation, FlowGraphView, FlowPage, FlowView, Found, GraphMembers, Names,
    OneLane, Overview, PartitionView, Problem, Series, StateView,
};

/// An answer of the fabric.
pub(crate) trait Told {
    /// Which of the answers of its operation it is.
    fn outcome(&self) -> &'static str;

    /// Whether `again`, the answer to the same call repeated, says that the call acted once.
    fn agrees(&self, again: &Self) -> bool {
        let _ = again;
        true
    }
}

/// Answers that have only one shape.
macro_rules! plain {
    ($($type:ty => $outcome:literal),+ $(,)?) => {
        $(impl Told for $type {
            fn outcome(&self) -> &'static str {
                $outcome
            }
        })+
    };
}

/// Answers that are one of several, and whose repetition may be any of them.
macro_rules! either {
    ($($type:ty { $($pattern:pat => $outcome:literal),+ $(,)? })+) => {
        $(impl Told for $type {
            fn outcome(&self) -> &'static str {
                match self { $($pattern => $outcome,)+ }
            }
        })+
    };
}

plain! {
    () => "done",
    BudgetView => "found",
    QuotaPolicyView => "found",
    ExecutionView => "found",
    FlowView => "found",
    FlowGraphView => "found",
    GraphMembers => "found",
    OneLane => "found",
    SavedView => "kept",
    StateView => "found",
    Explanation => "found",
    Payload => "found",
    Tagged => "found",
    Worker => "found",
    ReadToken => "found",
    Exchanged => "exchanged",
    CreatedKey => "created",
}

either! {
    Updated { Updated::Now => "now", Updated::Unchanged => "unchanged" }
    Deleted { Deleted::Now => "now", Deleted::Already => "already" }
    Opened { Opened::Now => "now", Opened::Already => "already" }
    Changed { Changed::Now => "now", Changed::Already => "already" }
    Cancelled { Cancelled::Now => "now", Cancelled::Already => "already" }
    Completed { Completed::Now => "now", Completed::Already => "already" }
    Revoked { Revoked::Now => "now", Revoked::AlreadySatisfied => "already_satisfied", Revoked::Cancelled => "cancelled" }
    Applied { Applied::Applied { .. } => "applied", Applied::AlreadyApplied => "already_applied" }
    Joined { Joined::Added { .. } => "added", Joined::AlreadyMember { .. } => "already_member" }
}

impl<T> Told for Page<T> {
    fn outcome(&self) -> &'static str {
        match self.next {
            Some(_) => "page",
            None => "last page",
        }
    }
}

impl Told for FlowPage {
    fn outcome(&self) -> &'static str {
        match self.next {
            Some(_) => "page",
            None => "last page",
        }
    }
}

impl Told for Overview {
    fn outcome(&self) -> &'static str {
        if self.states.is_empty() { "none" } else { "some" }
    }
}

impl Told for Series {
    fn outcome(&self) -> &'static str {
        let happened = self.series.iter().flat_map(|columns| &columns.submitted);
        if happened.sum::<u64>() == 0 { "none" } else { "some" }
    }
}

impl Told for Vec<Namespace> {
    fn outcome(&self) -> &'static str {
        if self.is_empty() { "none" } else { "some" }
    }
}

impl Told for Vec<SavedView> {
    fn outcome(&self) -> &'static str {
        if self.is_empty() { "none" } else { "some" }
    }
}

impl Told for StepPage {
    fn outcome(&self) -> &'static str {
        match self.next {
            Some(_) => "page",
            None => "last page",
        }
    }
}

/// How many of a call were there before.
fn recorded(statuses: impl ExactSizeIterator<Item = StepStatus>) -> &'static str {
    let all = statuses.len();
    match statuses.filter(|status| *status == StepStatus::Already).count() {
        0 => "recorded",
        known if known == all => "already",
        _ => "some",
    }
}

impl Told for SpawnedChildren {
    fn outcome(&self) -> &'static str {
        recorded(self.children.iter().map(|child| child.status))
    }

    fn agrees(&self, again: &Self) -> bool {
        let ids = |spawned: &Self| -> Vec<_> { spawned.children.iter().map(|child| child.execution_id).collect() };
        (self.flow_id, ids(self)) == (again.flow_id, ids(again))
    }
}

impl Told for RecordedSteps {
    fn outcome(&self) -> &'static str {
        recorded(self.steps.iter().map(|step| step.status))
    }

    fn agrees(&self, again: &Self) -> bool {
        let places = |recorded: &Self| recorded.steps.iter().map(|step| step.seq).collect::<Vec<_>>();
        places(self) == places(again) && again.outcome() == "already"
    }
}

impl Told for ExecutionPage {
    fn outcome(&self) -> &'static str {
        match self.next {
            Some(_) => "page",
            None => "last page",
        }
    }
}

impl Told for Found {
    fn outcome(&self) -> &'static str {
        if self.items.is_empty() { "none" } else { "some" }
    }
}

impl Told for Names {
    fn outcome(&self) -> &'static str {
        if self.items.is_empty() { "none" } else { "some" }
    }
}

impl Told for Vec<OpenWaitpoint> {
    fn outcome(&self) -> &'static str {
        if self.is_empty() { "none" } else { "some" }
    }
}

impl Told for Vec<Problem> {
    fn outcome(&self) -> &'static str {
        if self.is_empty() { "none" } else { "some" }
    }
}

impl Told for Vec<PartitionView> {
    fn outcome(&self) -> &'static str {
        "all"
    }
}

impl Told for Vec<Task> {
    fn outcome(&self) -> &'static str {
        if self.is_empty() { "none" } else { "tasks" }
    }
}

impl Told for Option<IssuedGrant> {
    fn outcome(&self) -> &'static str {
        if self.is_some() { "grant" } else { "none" }
    }
}

impl Told for Option<Payload> {
    fn outcome(&self) -> &'static str {
        if self.is_some() { "found" } else { "none" }
    }
}

impl Told for Events {
    fn outcome(&self) -> &'static str {
        if self.events.is_empty() { "none" } else { "some" }
    }
}

impl Told for StreamPage {
    fn outcome(&self) -> &'static str {
        if self.closed.is_some() { "closed" } else { "open" }
    }
}

impl Told for Renewed {
    fn outcome(&self) -> &'static str {
        if self.stop_requested.is_some() {
            "stop_requested"
        } else {
            "renewed"
        }
    }
}

impl Told for IssuedGrant {
    fn outcome(&self) -> &'static str {
        "grant"
    }
}

impl Told for Task {
    fn outcome(&self) -> &'static str {
        if self.resumed.is_some() { "resumed task" } else { "task" }
    }

    fn agrees(&self, again: &Self) -> bool {
        self.execution_id == again.execution_id && self.fence == again.fence
    }
}

impl Told for Created {
    fn outcome(&self) -> &'static str {
        match self {
            Created::Created { .. } => "created",
            Created::Duplicate {
                content_differs: false, ..
            } => "duplicate",
            Created::Duplicate {
                content_differs: true, ..
            } => "duplicate, content differs",
        }
    }

    fn agrees(&self, again: &Self) -> bool {
        let id = |created: &Created| match created {
            Created::Created { execution_id } | Created::Duplicate { execution_id, .. } => *execution_id,
        };
        // The key of somebody else's submission may be forgotten at any moment.
        id(self) == id(again) || matches!(self, Created::Duplicate { .. })
    }
}

impl Told for Vec<Result<Created, Rejection>> {
    fn outcome(&self) -> &'static str {
        if self.iter().all(Result::is_ok) { "all" } else { "some" }
    }

    fn agrees(&self, again: &Self) -> bool {
        let both_created = self.iter().zip(again).filter_map(|pair| match pair {
            (Ok(first), Ok(second)) => Some((first, second)),
            _ => None,
        });
        self.len() == again.len() && both_created.into_iter().all(|(first, second)| first.agrees(second))
    }
}

impl Told for Failed {
    fn outcome(&self) -> &'static str {
        match self {
            Failed::RetryScheduled { .. } => "retry_scheduled",
            Failed::TerminalFailed => "terminal_failed",
            Failed::Cancelled => "cancelled",
        }
    }

    fn agrees(&self, again: &Self) -> bool {
        self == again
    }
}

impl Told for LetGo {
    fn outcome(&self) -> &'static str {
        match self {
            LetGo::Now => "now",
            LetGo::Already => "already",
            LetGo::Cancelled => "cancelled",
        }
    }

    fn agrees(&self, again: &Self) -> bool {
        (*self == LetGo::Cancelled) == (*again == LetGo::Cancelled)
    }
}

impl Told for WaitedChildren {
    fn outcome(&self) -> &'static str {
        match self {
            WaitedChildren::AlreadySatisfied => "already_satisfied",
            WaitedChildren::Waiting => "waiting",
            WaitedChildren::DependencyImpossible => "dependency_impossible",
            WaitedChildren::Cancelled => "cancelled",
        }
    }

    fn agrees(&self, again: &Self) -> bool {
        *self == WaitedChildren::AlreadySatisfied || self == again
    }
}

impl Told for SuspendedTask {
    fn outcome(&self) -> &'static str {
        match self {
            SuspendedTask::Suspended { .. } => "suspended",
            SuspendedTask::AlreadySatisfied { .. } => "already_satisfied",
            SuspendedTask::Cancelled => "cancelled",
        }
    }

    fn agrees(&self, again: &Self) -> bool {
        match (self, again) {
            (
                SuspendedTask::Suspended { suspension_id, .. },
                SuspendedTask::Suspended {
                    suspension_id: second, ..
                },
            ) => suspension_id == second,
            (first, second) => first.outcome() == second.outcome(),
        }
    }
}

impl Told for IssuedWaitpoint {
    fn outcome(&self) -> &'static str {
        "issued"
    }

    fn agrees(&self, again: &Self) -> bool {
        self.waitpoint_id == again.waitpoint_id
    }
}

impl Told for Reported {
    fn outcome(&self) -> &'static str {
        match self {
            Reported::Ok => "ok",
            Reported::SoftBreach { .. } => "soft_breach",
            Reported::HardBreach { .. } => "hard_breach",
            Reported::AlreadyApplied => "already_applied",
            Reported::Gone => "gone",
        }
    }

    // A repetition that finds the report still on its way sends that, and is answered as the budget stands; whether it counted
    // once is read from its receipt.
}

impl Told for AppendedFrame {
    fn outcome(&self) -> &'static str {
        "appended"
    }

    fn agrees(&self, again: &Self) -> bool {
        // A frame that is gone is forgotten with its key, and none goes in less than a second here.
        let gone = again.frame_id.millis >= self.frame_id.millis + 1_000;
        self.frame_id == again.frame_id || gone
    }
}

impl Told for Replayed {
    fn outcome(&self) -> &'static str {
        match self {
            Replayed::Now => "now",
            Replayed::Already => "already",
        }
    }

    fn agrees(&self, again: &Self) -> bool {
        *again == Replayed::Already
    }
}

impl Told for ResumeOutcome {
    fn outcome(&self) -> &'static str {
        match self {
            ResumeOutcome::Now => "now",
            ResumeOutcome::Already => "already",
        }
    }

    fn agrees(&self, again: &Self) -> bool {
        *again == ResumeOutcome::Already
    }
}

impl Told for BudgetReset {
    fn outcome(&self) -> &'static str {
        match self {
            BudgetReset::Now => "now",
            BudgetReset::Already => "already",
        }
    }

    fn agrees(&self, again: &Self) -> bool {
        *again == BudgetReset::Already
    }
}

impl Told for CreatedBudget {
    fn outcome(&self) -> &'static str {
        match self.created {
            BudgetCreated::Created => "created",
            BudgetCreated::Exists => "exists",
        }
    }

    fn agrees(&self, again: &Self) -> bool {
        self.budget_id == again.budget_id
    }
}

impl Told for CreatedQuotaPolicy {
    fn outcome(&self) -> &'static str {
        match self.created {
            QuotaCreated::Created => "created",
            QuotaCreated::Exists => "exists",
        }
    }

    fn agrees(&self, again: &Self) -> bool {
        self.quota_policy_id == again.quota_policy_id
    }
}

impl Told for CreatedFlow {
    fn outcome(&self) -> &'static str {
        match self.created {
            FlowCreated::Created => "created",
            FlowCreated::Exists => "exists",
        }
    }

    fn agrees(&self, again: &Self) -> bool {
        self.flow_id == again.flow_id
    }
}

impl Told for GraphCreated {
    fn outcome(&self) -> &'static str {
        "created"
    }

    fn agrees(&self, again: &Self) -> bool {
        self == again
    }
}

impl Told for Staged {
    fn outcome(&self) -> &'static str {
        "staged"
    }

    fn agrees(&self, again: &Self) -> bool {
        self == again
    }
}

impl Told for MemberCancellation {
    fn outcome(&self) -> &'static str {
        let cancelled = &self.cancelled;
        match (cancelled.policy, cancelled.progress) {
            (CancelFlowPolicy::FlowOnly, _) => "sealed",
            (CancelFlowPolicy::CancelAll, CancelProgress::Scheduled) => "cancel_all scheduled",
            (CancelFlowPolicy::CancelPending, CancelProgress::Scheduled) => "cancel_pending scheduled",
            (CancelFlowPolicy::CancelAll, CancelProgress::Cancelled) => "cancel_all done",
            (CancelFlowPolicy::CancelPending, CancelProgress::Cancelled) => "cancel_pending done",
        }
    }

    fn agrees(&self, again: &Self) -> bool {
        let (first, second) = (&self.cancelled, &again.cancelled);
        first.policy == second.policy && first.reason == second.reason && first.member_count == second.member_count
    }
}

impl Told for Delivered {
    fn outcome(&self) -> &'static str {
        match self {
            Delivered::Duplicate { .. } => "duplicate",
            Delivered::Accepted { effect, .. } => match effect {
                SignalEffect::ResumeConditionSatisfied => "resume_condition_satisfied",
                SignalEffect::AppendedToWaitpoint => "appended_to_waitpoint",
                SignalEffect::BufferedForPendingWaitpoint => "buffered_for_pending_waitpoint",
                SignalEffect::IgnoredNotInCondition => "ignored_not_in_condition",
            },
        }
    }

    fn agrees(&self, again: &Self) -> bool {
        let id = |delivered: &Delivered| match delivered {
            Delivered::Accepted { signal_id, .. } => *signal_id,
            Delivered::Duplicate { existing_signal_id, .. } => *existing_signal_id,
        };
        id(self) == id(again) && matches!(again, Delivered::Duplicate { .. })
    }
}

impl Told for Rotated {
    fn outcome(&self) -> &'static str {
        match self.status {
            RotationStatus::Rotated => "rotated",
            RotationStatus::Unchanged => "unchanged",
        }
    }
}
