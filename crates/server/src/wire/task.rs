//! Claims, grants and tasks.

use std::collections::BTreeMap;

use ff_core::capability::CapabilitySet;
use ff_core::command::claim::{ClaimForWorker, IssuedGrant, OmittedInput, RedeemGrant, Task};
use ff_core::id::{ExecutionId, FlowId};
use ff_core::name::{ExecutionKind, LaneId, Namespace, WorkerId, WorkerInstanceId};
use ff_core::policy::FallbackTier;
use ff_core::record::{AttemptKind, Fence, ResumedBy, Signal, Tags};
use ff_core::time::{Duration, Timestamp};
use ff_core::token::SignedGrant;
use serde::{Deserialize, Serialize};

use super::payload::PayloadBody;

/// Asks for one grant.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClaimBody {
    namespace: Option<Namespace>,
    lane_id: Option<LaneId>,
    worker_instance_id: WorkerInstanceId,
    #[serde(default)]
    capabilities: CapabilitySet,
    grant_ttl_ms: Option<Duration>,
}

impl ClaimBody {
    /// The claim of this worker.
    pub(crate) fn of(self, worker: WorkerId) -> ClaimForWorker {
        ClaimForWorker {
            namespace: self.namespace.unwrap_or_else(Namespace::default_namespace),
            lane: self.lane_id.unwrap_or_else(LaneId::default_lane),
            worker,
            instance: self.worker_instance_id,
            capabilities: self.capabilities,
            grant_ttl: self.grant_ttl_ms,
        }
    }
}

/// A permit to take a lease.
#[derive(Serialize)]
pub(crate) struct GrantBody {
    status: &'static str,
    execution_id: ExecutionId,
    grant: String,
    expires_at: Timestamp,
}

impl From<IssuedGrant> for GrantBody {
    fn from(issued: IssuedGrant) -> Self {
        Self {
            status: "granted",
            execution_id: issued.execution_id,
            grant: issued.grant.expose().to_owned(),
            expires_at: issued.expires_at,
        }
    }
}

/// Turns a grant into a lease.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RedeemBody {
    grant: String,
    worker_id: WorkerId,
    worker_instance_id: WorkerInstanceId,
    lease_ttl_ms: Option<Duration>,
}

impl From<RedeemBody> for RedeemGrant {
    fn from(body: RedeemBody) -> Self {
        RedeemGrant {
            grant: SignedGrant::from_text(body.grant),
            worker: body.worker_id,
            instance: body.worker_instance_id,
            lease_ttl: body.lease_ttl_ms,
        }
    }
}

/// A leased execution with all a worker needs to run it.
#[derive(Serialize)]
pub(crate) struct TaskBody {
    execution_id: ExecutionId,
    namespace: Namespace,
    lane_id: LaneId,
    execution_kind: ExecutionKind,
    input: PayloadBody,
    inputs: BTreeMap<String, PayloadBody>,
    inputs_omitted: Vec<OmittedInput>,
    tags: Tags,
    flow_id: Option<FlowId>,
    attempt_index: u32,
    attempt_kind: AttemptKind,
    #[serde(flatten)]
    fence: Fence,
    expires_at: Timestamp,
    deadline_at: Option<Timestamp>,
    tier: Option<FallbackTier>,
    resumed: Option<ResumedBody>,
    server_time: Timestamp,
}

/// What a resumed task is told.
#[derive(Serialize)]
struct ResumedBody {
    by: ResumedBy,
    signals: Vec<SignalBody>,
}

/// A signal with what came with it.
#[derive(Serialize)]
struct SignalBody {
    #[serde(flatten)]
    signal: Signal,
    payload: PayloadBody,
}

impl From<Task> for TaskBody {
    fn from(task: Task) -> Self {
        let resumed = task.resumed.map(|resumed| ResumedBody {
            by: resumed.by,
            signals: resumed
                .signals
                .into_iter()
                .map(|(signal, payload)| SignalBody {
                    signal,
                    payload: PayloadBody::from(&payload),
                })
                .collect(),
        });
        let inputs = task
            .inputs
            .iter()
            .map(|(name, payload)| (name.to_string(), PayloadBody::from(payload)));
        Self {
            execution_id: task.execution_id,
            namespace: task.namespace,
            lane_id: task.lane,
            execution_kind: task.execution_kind,
            input: PayloadBody::from(&task.input),
            inputs: inputs.collect(),
            inputs_omitted: task.inputs_omitted,
            tags: task.tags,
            flow_id: task.flow_id,
            attempt_index: task.attempt_index,
            attempt_kind: task.attempt_kind,
            fence: task.fence,
            expires_at: task.expires_at,
            deadline_at: task.deadline_at,
            tier: task.tier,
            resumed,
            server_time: task.now,
        }
    }
}
