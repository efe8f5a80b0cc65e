//! What happened: a line in the history of its subject and an event in the partition's feed.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::id::{ExecutionId, FlowId};
use crate::name::{Identity, LaneId, Namespace, WorkerInstanceId};
use crate::time::Timestamp;

/// One thing that happened. It carries what a reader filters by, so that it outlives the record it names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HistoryLine {
    /// The execution or flow it happened to.
    pub subject: HistorySubject,
    /// The tenant of the execution or flow.
    pub namespace: Namespace,
    /// The execution's queue; absent for a flow.
    #[serde(rename = "lane_id", default, skip_serializing_if = "Option::is_none")]
    pub lane: Option<LaneId>,
    /// The flow the execution belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow_id: Option<FlowId>,
    /// The execution's or flow's kind.
    pub kind: String,
    /// When it happened, on the store's clock.
    pub at: Timestamp,
    /// What happened, as a stable word.
    pub what: Happening,
    /// Who did it.
    pub actor: Actor,
    /// Index of the attempt it concerns, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt_index: Option<u32>,
    /// Epoch of the lease it concerns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_epoch: Option<u64>,
    /// More, for a person: a reason, a budget, a number. Its wording may change; events do not carry it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

impl HistoryLine {
    /// The line as an event. What people wrote stays with the record, and goes with it: an event outlives both.
    pub fn event(&self) -> Cow<'_, Self> {
        match &self.detail {
            None => Cow::Borrowed(self),
            Some(_) => Cow::Owned(Self {
                detail: None,
                ..self.clone()
            }),
        }
    }
}

/// What a history line is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum HistorySubject {
    /// An execution.
    Execution(ExecutionId),
    /// A flow.
    Flow(FlowId),
}

/// Who did something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Actor {
    /// The engine: time passed, or follow-up work.
    Engine,
    /// A worker, by its process slot.
    Worker(WorkerInstanceId),
    /// A client, by the identity its credential gave it.
    Client(Identity),
    /// A client without a credential.
    Anonymous,
}

impl Actor {
    /// Who it is, if somebody vouches for that.
    pub fn identity(&self) -> Option<Identity> {
        match self {
            Actor::Engine => Some(Identity::engine()),
            Actor::Worker(instance) => Identity::parse(instance.as_str()).ok(),
            Actor::Client(identity) => Some(identity.clone()),
            Actor::Anonymous => None,
        }
    }
}

macro_rules! happenings {
    ($($(#[$doc:meta])* $variant:ident => $text:literal),+ $(,)?) => {
        /// What can happen to an execution or a flow.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum Happening {
            $($(#[$doc])* #[serde(rename = $text)] $variant,)+
            /// Something a later version tells of, which this one has no word for.
            #[serde(other, rename = "unknown")]
            Unknown,
        }

        impl Happening {
            /// Everything there is a word for.
            pub const ALL: &[Happening] = &[$(Happening::$variant,)+];

            /// The name as it appears in histories and events.
            pub const fn as_str(self) -> &'static str {
                match self { $(Happening::$variant => $text,)+ Happening::Unknown => "unknown" }
            }
        }
    };
}

happenings! {
    /// Submitted.
    Created => "created",
    /// Promised to a worker.
    Granted => "granted",
    /// The promise ran out unused.
    GrantLapsed => "grant_lapsed",
    /// The promise was taken back.
    GrantDropped => "grant_dropped",
    /// A worker took it.
    Claimed => "claimed",
    /// A worker gave it back.
    Released => "released",
    /// A lease nobody ever used came back.
    Returned => "returned",
    /// The lease ran out.
    LeaseExpired => "lease_expired",
    /// The lease was taken away.
    LeaseRevoked => "lease_revoked",
    /// Waiting for another worker to take over.
    Reclaimable => "reclaimable",
    /// The worker was asked to stop.
    StopRequested => "stop_requested",
    /// The worker may go on: who asked it to stop no longer does.
    StopWithdrawn => "stop_withdrawn",
    /// Ended well.
    Completed => "completed",
    /// The attempt failed and will be retried.
    RetryScheduled => "retry_scheduled",
    /// Ended badly.
    Failed => "failed",
    /// Ended by cancellation.
    Cancelled => "cancelled",
    /// Ended by its deadline.
    Expired => "expired",
    /// Ended without having run.
    Skipped => "skipped",
    /// Reopened.
    Replayed => "replayed",
    /// Reopened because an upstream was replayed.
    Reopened => "reopened",
    /// The worker asked to go on later.
    Delayed => "delayed",
    /// A delay or backoff is over.
    DelayOver => "delay_over",
    /// Waits for its dependencies.
    WaitingChildren => "waiting_children",
    /// Its dependencies hold.
    DependenciesSatisfied => "dependencies_satisfied",
    /// A dependency was added.
    DependencyApplied => "dependency_applied",
    /// Its flow is whole; it may run.
    Opened => "opened",
    /// Gave up its lease to wait for signals.
    Suspended => "suspended",
    /// A signal arrived.
    Signalled => "signalled",
    /// Its resume condition holds.
    Resumed => "resumed",
    /// Its suspension timed out.
    SuspensionTimedOut => "suspension_timed_out",
    /// Its suspension timed out and a person is needed.
    Escalated => "escalated",
    /// A waitpoint was handed out before suspending.
    WaitpointCreated => "waitpoint_created",
    /// A waitpoint closed unused.
    WaitpointExpired => "waitpoint_expired",
    /// Admission refused it.
    Blocked => "blocked",
    /// Admission may be tried again.
    Unblocked => "unblocked",
    /// An operator held it.
    Held => "held",
    /// An operator let it go.
    Unheld => "unheld",
    /// Its priority changed.
    PriorityChanged => "priority_changed",
    /// Its tags changed.
    TagsChanged => "tags_changed",
    /// Usage was reported.
    UsageReported => "usage_reported",
    /// Its attempt passed a soft limit of a budget for the first time.
    SoftBreach => "soft_breach",
    /// Its attempt passed a hard limit of a budget for the first time.
    HardBreach => "hard_breach",
    /// It joined a flow.
    MemberAdded => "member_added",
    /// A flow was created.
    FlowCreated => "flow_created",
    /// A flow was opened.
    FlowOpened => "flow_opened",
    /// A dependency was staged in a flow.
    EdgeStaged => "edge_staged",
    /// A flow was cancelled or sealed.
    FlowCancelled => "flow_cancelled",
    /// A flow's last open member ended.
    FlowEnded => "flow_ended",
    /// A flow has open members again.
    FlowReopened => "flow_reopened",
    /// Its retention is over.
    Deleting => "deleting",
}
