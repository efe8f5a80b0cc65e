//! Suspending, and what wakes the suspended.

use ff_core::command::claim::Task;
use ff_core::command::signal::{Decide, DeliverSignal, Delivered, SendSignal, Verdict};
use ff_core::command::submit::CreateExecution;
use ff_core::command::suspend::{Suspend, WaitpointChoice};
use ff_core::command::waitpoint::{CreatePendingWaitpoint, IssuedWaitpoint, SuspendedTask};
use ff_core::fabric::{On, Result};
use ff_core::id::{ExecutionId, SignalId, WaitpointId};
use ff_core::name::{Identity, SignalName, WaitpointKey};
use ff_core::payload::Payload;
use ff_core::record::{Fence, Matcher, ReasonCode, ResumeCondition};
use ff_core::time::Duration;
use serde_json::json;

use super::{HOUR, Scene, fresh, request};

impl Scene<'_> {
    /// Suspends a task.
    pub(crate) async fn suspend(&self, id: ExecutionId, suspend: Suspend) -> Result<SuspendedTask> {
        self.fabric.suspend(On::new(id, suspend)).await
    }

    /// Suspends a task, which must be possible, and answers where its signals arrive.
    pub(crate) async fn suspended(&self, task: &Task, suspend: Suspend) -> Vec<IssuedWaitpoint> {
        issued(self.suspend(task.execution_id, suspend).await.unwrap())
    }

    /// A suspended execution that waits for any signal at one waitpoint.
    pub(crate) async fn asleep(&self, command: CreateExecution) -> (Task, IssuedWaitpoint) {
        let task = self.running(command).await;
        let waitpoint = self.suspended(&task, waiting(&task)).await.remove(0);
        (task, waitpoint)
    }

    /// Hands out a waitpoint before suspending.
    pub(crate) async fn hand_out(&self, task: &Task, waitpoint_key: &str) -> IssuedWaitpoint {
        let command = pending(task.fence, waitpoint_key, HOUR);
        let created = self
            .fabric
            .create_pending_waitpoint(On::new(task.execution_id, command));
        created.await.unwrap()
    }

    /// Hands out a waitpoint under a request id of its own.
    pub(crate) async fn hand_out_once(&self, task: &Task, waitpoint_key: &str) -> IssuedWaitpoint {
        let command = CreatePendingWaitpoint {
            request_id: request(waitpoint_key),
            ..pending(task.fence, waitpoint_key, HOUR)
        };
        let created = self
            .fabric
            .create_pending_waitpoint(On::new(task.execution_id, command));
        created.await.unwrap()
    }

    /// Tries to hand out a waitpoint that lasts `expires_in`.
    pub(crate) async fn try_hand_out(
        &self,
        task: &Task,
        waitpoint_key: &str,
        expires_in: Duration,
    ) -> Result<IssuedWaitpoint> {
        let command = pending(task.fence, waitpoint_key, expires_in);
        self.fabric
            .create_pending_waitpoint(On::new(task.execution_id, command))
            .await
    }

    /// Sends a signal to a waitpoint, with its token.
    pub(crate) async fn send(
        &self,
        id: ExecutionId,
        waitpoint: &IssuedWaitpoint,
        signal: DeliverSignal,
    ) -> Result<Delivered> {
        let command = SendSignal {
            waitpoint_token: waitpoint.token.clone(),
            signal: DeliverSignal {
                waitpoint_id: waitpoint.waitpoint_id,
                ..signal
            },
        };
        self.fabric.deliver_signal(On::new(id, command)).await
    }

    /// A person says yes or no.
    pub(crate) async fn decide(&self, id: ExecutionId, waitpoint: WaitpointId, verdict: Verdict) -> Result<Delivered> {
        let command = Decide {
            waitpoint_id: waitpoint,
            payload: Payload::json(&json!("looked at it")),
            idempotency_key: None,
        };
        match verdict {
            Verdict::Approve => self.fabric.approve(On::new(id, command)).await,
            Verdict::Reject => self.fabric.reject(On::new(id, command)).await,
        }
    }
}

fn pending(fence: Fence, waitpoint_key: &str, expires_in: Duration) -> CreatePendingWaitpoint {
    CreatePendingWaitpoint {
        fence: Some(fence),
        waitpoint_key: key(waitpoint_key),
        expires_in,
        request_id: None,
        waitpoint_id: None,
    }
}

/// The waitpoints of a suspension that has begun.
pub(crate) fn issued(suspended: SuspendedTask) -> Vec<IssuedWaitpoint> {
    match suspended {
        SuspendedTask::Suspended { waitpoints, .. } => waitpoints,
        other => panic!("not suspended: {other:?}"),
    }
}

/// Waits for any signal at a waitpoint called `answer`.
pub(crate) fn waiting(task: &Task) -> Suspend {
    waiting_for(task, &["answer"], single("answer", Matcher::Any))
}

/// Waits at fresh waitpoints until a condition holds.
pub(crate) fn waiting_for(task: &Task, waitpoints: &[&str], resume_condition: ResumeCondition) -> Suspend {
    Suspend {
        fence: Some(task.fence),
        waitpoints: waitpoints.iter().map(|name| fresh_waitpoint(name)).collect(),
        resume_condition,
        reason_code: ReasonCode::WaitingForSignal,
        timeout_at: None,
        timeout_behavior: None,
        resume_delay: Duration::ZERO,
        idempotency_key: None,
        suspension_id: None,
        step: None,
        steps: Vec::new(),
    }
}

fn fresh_waitpoint(name: &str) -> WaitpointChoice {
    WaitpointChoice::Fresh {
        waitpoint_key: key(name),
        waitpoint_id: None,
    }
}

/// One signal at one waitpoint.
pub(crate) fn single(waitpoint_key: &str, matcher: Matcher) -> ResumeCondition {
    ResumeCondition::Single {
        waitpoint_key: key(waitpoint_key),
        matcher,
    }
}

pub(crate) fn key(name: &str) -> WaitpointKey {
    WaitpointKey::parse(name).unwrap()
}

/// The id of a signal that was accepted.
pub(crate) fn accepted(delivered: &Delivered) -> SignalId {
    match delivered {
        Delivered::Accepted { signal_id, .. } => *signal_id,
        Delivered::Duplicate { existing_signal_id, .. } => panic!("sent before as {existing_signal_id}"),
    }
}

/// A signal of this name; the waitpoint is named when it is sent.
pub(crate) fn signal(name: &str) -> DeliverSignal {
    DeliverSignal {
        waitpoint_id: WaitpointId::from_uuid(fresh()),
        signal_id: None,
        signal_name: SignalName::parse(name).unwrap(),
        category: "test".to_owned(),
        source_type: "suite".to_owned(),
        source_identity: Identity::parse("somebody").unwrap(),
        payload: Payload::json(&json!({ "said": name })),
        idempotency_key: None,
        correlation_id: None,
    }
}
