//! create_execution.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::command::lease::Holder;
use crate::id::{EdgeId, ExecutionId, FlowId};
use crate::name::{DataRef, ExecutionKind, IdempotencyKey, Identity, LaneId, Namespace};
use crate::payload::Payload;
use crate::policy::Policy;
use crate::record::{DependencyKind, EdgeGroupPolicy, Tags};
use crate::time::Timestamp;

/// Submits one execution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CreateExecution {
    /// Its id; minted when absent.
    pub execution_id: Option<ExecutionId>,
    /// Instead of its id, the UUID in it: the engine adds the partition of its flow or of its key, or else the one that
    /// follows from the UUID, in a batch from the first UUID of the batch.
    pub execution_uuid: Option<Uuid>,
    /// The tenant; unless given that of the key, or else `default`.
    #[serde(default = "Namespace::default_namespace")]
    pub namespace: Namespace,
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
    /// Makes repeated submissions one for the policy's `dedup_window_ms`: in its flow, else in its namespace.
    pub idempotency_key: Option<IdempotencyKey>,
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
    /// The flow it becomes a member of; its id then lies in the flow's partition.
    pub flow_id: Option<FlowId>,
    /// The execution that spawns it, and proof that the caller runs that one.
    pub parent_fence: Option<Holder>,
    /// Members of the flow it waits for, at most 1,000; needs `flow_id`.
    #[serde(default)]
    pub depends_on: Vec<DependsOn>,
    /// How those join; absent: `all_of`. Needs `flow_id`.
    pub edge_group_policy: Option<EdgeGroupPolicy>,
}

/// One dependency of a new member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DependsOn {
    /// The edge's id; derived from the pair when absent.
    #[serde(default)]
    pub edge_id: Option<EdgeId>,
    /// The member that must end first.
    pub upstream: ExecutionId,
    /// Which end of it counts as success; absent: `success_only`.
    #[serde(default)]
    pub dependency_kind: DependencyKind,
    /// The name under which its result is handed over; absent: it is not.
    #[serde(default)]
    pub data_passing_ref: Option<DataRef>,
}

impl CreateExecution {
    /// A submission of `input` to the default lane, with nothing else said.
    pub fn new(execution_kind: ExecutionKind, input: Payload) -> Self {
        Self {
            execution_id: None,
            execution_uuid: None,
            namespace: Namespace::default_namespace(),
            lane_id: LaneId::default_lane(),
            execution_kind,
            input,
            priority: 0,
            creator_identity: None,
            idempotency_key: None,
            tags: Tags::new(),
            policy: Policy::default(),
            delay_until: None,
            execution_deadline_at: None,
            flow_id: None,
            parent_fence: None,
            depends_on: Vec::new(),
            edge_group_policy: None,
        }
    }
}

/// What became of a submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Created {
    /// A new execution.
    Created {
        /// As given, or minted.
        execution_id: ExecutionId,
    },
    /// It was submitted before, under the same id or idempotency key; nothing was added.
    Duplicate {
        /// The execution of the first submission.
        execution_id: ExecutionId,
        /// This submission says something else than the first one.
        content_differs: bool,
    },
}

impl Created {
    /// The execution there is now.
    pub const fn execution_id(&self) -> ExecutionId {
        match self {
            Self::Created { execution_id } | Self::Duplicate { execution_id, .. } => *execution_id,
        }
    }
}

/// Whether a lane accepts and hands out work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LaneState {
    /// Accepts and hands out.
    #[default]
    Active,
    /// Accepts, does not hand out.
    Paused,
    /// Hands out, does not accept.
    Draining,
    /// Neither; running work may end.
    Disabled,
}

impl LaneState {
    /// Whether new work is accepted.
    pub const fn accepts(self) -> bool {
        matches!(self, LaneState::Active | LaneState::Paused)
    }

    /// Whether waiting work is handed out.
    pub const fn hands_out(self) -> bool {
        matches!(self, LaneState::Active | LaneState::Draining)
    }
}
