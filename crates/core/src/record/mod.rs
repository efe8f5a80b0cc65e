//! Records hold facts; every state, index and timer is derived from them. Budgets and quota policies have partitions of
//! their own, all others live in flow partitions.

mod access_key;
mod attempt;
mod blocked;
mod budget;
mod edge;
mod effect;
mod execution;
mod flow;
mod history;
mod key;
mod lease;
mod outcome;
mod quota;
mod requests;
mod saved_view;
mod short_line;
mod step;
pub mod stored;
mod suspension;
mod waitpoint;
mod worker;

pub use access_key::AccessKeyRecord;
pub use attempt::{Attempt, AttemptEnd, AttemptEndState, AttemptKind, Failure};
pub use blocked::BlockedIn;
pub use budget::{
    AMOUNT_MAX, Breach, BreachKind, Budget, DIMENSIONS_MAX, Excess, Limits, OnHardLimit, StopOrder, Withdrawal,
};
pub use edge::{DependencyKind, Edge, EdgeGroupPolicy, EdgeState, OnSatisfied};
pub use effect::{Effect, EffectKind, UsageIdentity};
pub use execution::{
    Block, Cause, Counts, Definition, Delay, DelayReason, Dependencies, Execution, FollowUps, Hold, NextClaim, Phase,
    Progress, Runnable, StopRequest, Tags,
};
pub use flow::{CancelFlowPolicy, Flow, FlowCancellation, Gate, GateState};
pub use history::{Actor, Happening, HistoryLine, HistorySubject};
pub use key::{
    BlobKey, CounterKey, FlowCounter, GroupCounter, IdempotencyScope, Record, RecordKey, SubmissionKeyRecord,
};
pub use lease::{BudgetStop, EndedLease, Fence, Grant, Lease, LeaseEnd, LeaseOperation, StepUnderWay};
pub use outcome::{CancelSource, Outcome, OutcomeKind, Success};
pub use quota::{Promise, QuotaPolicy};
pub use requests::{ReportLog, RequestLog, RequestOutcome};
pub use saved_view::SavedView;
pub use short_line::{AboutLines, ShortLine};
pub use step::{Forgotten, Journal, Step, StepKind, StepSignal, StepState};
pub use stored::{Carried, Stored};
pub use suspension::{
    Distinct, Matcher, NodeProgress, ReasonCode, ResumeCondition, Resumed, ResumedBy, Suspension, TimeoutBehavior,
    WaitStep, WaitpointRef,
};
pub use waitpoint::{PendingWaitpoint, Signal, SignalEffect, SignalKeyRecord, Waitpoint, WaitpointUse};
pub use worker::{Drain, Incarnation, Lane, Worker, has_capable};

/// Whether a field has the value it has when nothing is said; such fields are left out of stored documents.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
