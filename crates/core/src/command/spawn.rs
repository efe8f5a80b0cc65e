//! spawn_children: executions that a handler starts and may wait for.

use serde::{Deserialize, Serialize};

use crate::command::steps::StepStatus;
use crate::command::submit::CreateExecution;
use crate::id::{ExecutionId, FlowId};
use crate::name::{ExecutionKind, Identity, LaneId, Namespace, StepKey};
use crate::payload::Payload;
use crate::policy::Policy;
use crate::record::{Fence, Tags};
use crate::time::Timestamp;
use crate::wire;

/// Starts executions, all of them or none, each a step of the handler.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpawnChildren {
    /// Proof of the lease, as the task carried it.
    #[serde(rename = "..fence", deserialize_with = "wire::fence")]
    pub fence: Option<Fence>,
    /// What to start, 1 to 64, with 4 MiB of inputs together.
    pub children: Vec<Child>,
}

/// An execution to start, in the namespace of the one that starts it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Child {
    /// The worker's name for the step: whoever goes on finds the same child under it.
    pub step: StepKey,
    /// The queue workers claim it from; `default` unless given.
    #[serde(default = "LaneId::default_lane")]
    pub lane_id: LaneId,
    /// Which handler runs it.
    pub execution_kind: ExecutionKind,
    /// What it works on, up to 1 MiB unless configured otherwise; absent: no bytes.
    #[serde(rename = "input:bytes", default)]
    pub input: Payload,
    /// 0 to 9,000, higher first; absent: 0.
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::text::priority))]
    #[serde(default)]
    pub priority: u16,
    /// Who submits it, as the caller says; shown on reads.
    pub creator_identity: Option<Identity>,
    /// The user's labels, up to 64: keys match `[a-z][a-z0-9_.-]{0,127}`, values have up to 1 KiB.
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::text::tags))]
    #[serde(default)]
    pub tags: Tags,
    /// How it is retried, timed, limited and kept. It never changes after the submission.
    #[serde(default)]
    pub policy: Policy,
    /// Not handed out before this moment; one in the past is no delay.
    pub delay_until: Option<Timestamp>,
    /// Expires at this moment, whatever it is doing; one in the past is refused.
    pub execution_deadline_at: Option<Timestamp>,
}

impl Child {
    /// What is submitted for it.
    pub(crate) fn submission(&self, namespace: Namespace, flow: FlowId) -> CreateExecution {
        CreateExecution {
            namespace,
            lane_id: self.lane_id.clone(),
            priority: self.priority,
            creator_identity: self.creator_identity.clone(),
            tags: self.tags.clone(),
            policy: self.policy.clone(),
            delay_until: self.delay_until,
            execution_deadline_at: self.execution_deadline_at,
            flow_id: Some(flow),
            ..CreateExecution::new(self.execution_kind.clone(), self.input.clone())
        }
    }
}

/// Executions that were started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpawnedChildren {
    /// The flow that they and the one that started them are members of.
    pub flow_id: FlowId,
    /// What became of each, in order.
    pub children: Vec<SpawnedChild>,
}

/// An execution that was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpawnedChild {
    /// Which execution.
    pub execution_id: ExecutionId,
    /// The place of its step.
    pub seq: u64,
    /// Whether it was started by this call or before.
    pub status: StepStatus,
}
