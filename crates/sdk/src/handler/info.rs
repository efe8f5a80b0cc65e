//! What is known of a task before its handler runs.

use std::sync::Arc;

use ff_core::command::claim::Task;
use ff_core::id::{ExecutionId, FlowId};
use ff_core::name::{ExecutionKind, LaneId, Namespace};
use ff_core::policy::FallbackTier;
use ff_core::record::{AttemptKind, Tags};
use ff_core::time::Timestamp;

/// What is known of a task before its handler runs. Cheap to clone.
#[derive(Clone, Debug)]
pub struct TaskInfo(Arc<Facts>);

#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) id: ExecutionId,
    pub(crate) namespace: Namespace,
    pub(crate) lane: LaneId,
    pub(crate) kind: ExecutionKind,
    pub(crate) tags: Tags,
    pub(crate) flow_id: Option<FlowId>,
    pub(crate) attempt_index: u32,
    pub(crate) attempt_kind: AttemptKind,
    pub(crate) deadline_at: Option<Timestamp>,
    pub(crate) tier: Option<FallbackTier>,
}

impl TaskInfo {
    pub(crate) fn new(facts: Facts) -> Self {
        Self(Arc::new(facts))
    }

    pub(crate) fn of(task: &Task) -> Self {
        Self::new(Facts {
            id: task.execution_id,
            namespace: task.namespace.clone(),
            lane: task.lane.clone(),
            kind: task.execution_kind.clone(),
            tags: task.tags.clone(),
            flow_id: task.flow_id,
            attempt_index: task.attempt_index,
            attempt_kind: task.attempt_kind,
            deadline_at: task.deadline_at,
            tier: task.tier.clone(),
        })
    }

    /// The execution.
    pub fn id(&self) -> ExecutionId {
        self.0.id
    }

    /// The tenant it was submitted for.
    pub fn namespace(&self) -> &Namespace {
        &self.0.namespace
    }

    /// The lane it came from.
    pub fn lane(&self) -> &str {
        self.0.lane.as_str()
    }

    /// Which handler runs it.
    pub fn kind(&self) -> &str {
        self.0.kind.as_str()
    }

    /// The user's labels, as they were when it was claimed.
    pub fn tags(&self) -> &Tags {
        &self.0.tags
    }

    /// The flow it is a member of.
    pub fn flow_id(&self) -> Option<FlowId> {
        self.0.flow_id
    }

    /// Which run this is, from 0. Going on after a wait, a sleep or a release is the same run.
    pub fn attempt(&self) -> u32 {
        self.0.attempt_index
    }

    /// Why this run started.
    pub fn attempt_kind(&self) -> AttemptKind {
        self.0.attempt_kind
    }

    /// When the execution expires, on the store's clock.
    pub fn deadline(&self) -> Option<Timestamp> {
        self.0.deadline_at
    }

    /// The provider and model to use, where the policy names some.
    pub fn tier(&self) -> Option<&FallbackTier> {
        self.0.tier.as_ref()
    }
}
