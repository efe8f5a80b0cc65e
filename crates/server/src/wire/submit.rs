//! create_execution.

use ff_core::command::submit::{CreateExecution, Created, DependsOn};
use ff_core::error::Rejection;
use ff_core::id::{ExecutionId, FlowId};
use ff_core::name::{ExecutionKind, IdempotencyKey, Identity, LaneId, Namespace};
use ff_core::policy::Policy;
use ff_core::record::{EdgeGroupPolicy, Tags};
use ff_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::payload::given;

/// A submission.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SubmitBody {
    execution_id: Option<ExecutionId>,
    namespace: Option<Namespace>,
    lane_id: Option<LaneId>,
    execution_kind: ExecutionKind,
    input: Option<Box<RawValue>>,
    input_base64: Option<String>,
    #[serde(default)]
    priority: u16,
    creator_identity: Option<Identity>,
    idempotency_key: Option<IdempotencyKey>,
    #[serde(default)]
    tags: Tags,
    policy: Option<Value>,
    delay_until: Option<Timestamp>,
    execution_deadline_at: Option<Timestamp>,
    flow_id: Option<FlowId>,
    #[serde(default)]
    depends_on: Vec<DependsOn>,
    edge_group_policy: Option<EdgeGroupPolicy>,
}

impl TryFrom<SubmitBody> for CreateExecution {
    type Error = Rejection;

    fn try_from(body: SubmitBody) -> Result<Self, Rejection> {
        let input = given(body.input, body.input_base64)?.unwrap_or_default();
        Ok(CreateExecution {
            execution_id: body.execution_id,
            namespace: body.namespace.unwrap_or_else(Namespace::default_namespace),
            lane_id: body.lane_id.unwrap_or_else(LaneId::default_lane),
            priority: body.priority,
            creator_identity: body.creator_identity,
            idempotency_key: body.idempotency_key,
            tags: body.tags,
            policy: body
                .policy
                .as_ref()
                .map(Policy::from_json)
                .transpose()?
                .unwrap_or_default(),
            delay_until: body.delay_until,
            execution_deadline_at: body.execution_deadline_at,
            flow_id: body.flow_id,
            depends_on: body.depends_on,
            edge_group_policy: body.edge_group_policy,
            ..CreateExecution::new(body.execution_kind, input)
        })
    }
}

/// What became of it.
#[derive(Serialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub(crate) enum CreatedBody {
    Created {
        execution_id: ExecutionId,
    },
    Duplicate {
        execution_id: ExecutionId,
        content_differs: bool,
    },
}

impl From<Created> for CreatedBody {
    fn from(created: Created) -> Self {
        match created {
            Created::Created { execution_id } => CreatedBody::Created { execution_id },
            Created::Duplicate {
                execution_id,
                content_differs,
            } => CreatedBody::Duplicate {
                execution_id,
                content_differs,
            },
        }
    }
}
