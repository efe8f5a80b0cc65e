//! Every type that stands in the table of operations.

pub use crate::command::budget::{
    BudgetReset, BudgetView, ChargeBudget, CreateBudget, CreatedBudget, Deleted, Reported, ResetBudget, UpdateLimits,
    Updated,
};
pub use crate::command::claim::{Claim, ClaimForWorker, Exchange, Exchanged, IssuedGrant, RedeemGrant, Task};
pub use crate::command::flow::{
    AddExecution, Applied, ApplyDependency, CancelFlow, CreateFlowWith, CreatedFlow, FlowGraph, GraphCreated, Joined,
    MemberCancellation, Opened, ReplayExecution, Replayed, SetEdgeGroupPolicy, StageDependencyEdge, Staged,
    WaitChildren, WaitedChildren,
};
pub use crate::command::lane::SetLaneState;
pub use crate::command::lease::{
    Complete, Completed, DelayUntil, Fail, Failed, LetGo, Release, Renew, Renewed, ReportUsage, UpdateProgress,
};
pub use crate::command::operator::{
    CancelExecution, Cancelled, ChangePriority, Changed, HoldExecution, IssueReclaimGrant, RevokeLease, Revoked,
    SetTags, Tagged,
};
pub use crate::command::page::{ListOf, Page, PageRequest};
pub use crate::command::quota::{CreateQuotaPolicy, CreatedQuotaPolicy, QuotaPolicyView, UpdateQuotaPolicy};
pub use crate::command::signal::{
    Approval, Decide, Delivered, ListApprovals, ResumeExecution, ResumeOutcome, SendSignal,
};
pub use crate::command::stream::{AppendFrame, AppendedFrame, AttemptRef, ReadStream, StreamPage, TailStream};
pub use crate::command::submit::{CreateExecution, Created};
pub use crate::command::suspend::Suspend;
pub use crate::command::waitpoint::{
    CreatePendingWaitpoint, IssuedWaitpoint, OpenWaitpoint, ReadToken, ReadWaitpointToken, SuspendedTask,
};
pub use crate::command::worker::{NamedInstance, RegisterWorker};
pub use crate::id::{BudgetId, ExecutionId, FlowId, QuotaPolicyId};
pub use crate::keyring::{RotateWaitpointSecret, Rotated};
pub use crate::record::{Attempt, Edge, HistoryLine, Worker};
pub use crate::view::{
    Events, ExecutionView, Explanation, FlowView, GetResult, GroupView, LaneView, ListExecutions, ListFlows,
    ListProblems, Problem, ReadEvents, SignalView, StateView, WaitForEnd,
};
