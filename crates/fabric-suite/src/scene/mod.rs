//! What cases are made of: a client, workers and the few things they do.

mod flows;
mod limits;
mod signals;
mod steps;
mod streams;
mod workers;

pub(crate) use flows::{Graph, dependency, edge, flow_definition, graph, graph_member, into_flow};
pub(crate) use limits::{budget_of, deltas, limited, quota_of, tokens, under, usage};
pub(crate) use signals::{accepted, issued, key, signal, single, waiting, waiting_for};
pub(crate) use steps::{brought, done, named, step_key};
pub(crate) use streams::{attempt, frame, summary};
pub(crate) use workers::{WORKER, claim, holding, instance, registration};

use std::fmt::Debug;
use std::future::Future;
use std::sync::Arc;

use ff_core::caller::Caller;
use ff_core::command::flow::{ReplayExecution, Replayed};
use ff_core::command::lane::SetLaneState;
use ff_core::command::operator::{CancelExecution, Cancelled, Changed, HoldExecution};
use ff_core::command::page::{ListOf, PageRequest};
use ff_core::command::steps::KeepSteps;
use ff_core::command::submit::{CreateExecution, Created, LaneState};
use ff_core::error::Code;
use ff_core::fabric::{Fabric, On, Result};
use ff_core::id::ExecutionId;
use ff_core::name::{ExecutionKind, Identity, LaneId, Namespace, RequestId};
use ff_core::payload::Payload;
use ff_core::policy::Policy;
use ff_core::record::{Actor, HistoryLine};
use ff_core::state::{PublicState, StateVector};
use ff_core::time::{Duration, Timestamp};
use ff_core::view::{ExecutionView, GetResult};
use futures::future::join_all;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::Harness;

pub(crate) const SECOND: Duration = Duration::from_secs(1);
pub(crate) const MINUTE: Duration = Duration::from_secs(60);
pub(crate) const HOUR: Duration = Duration::from_hours(1);

/// A fabric, and somebody who uses it.
pub(crate) struct Scene<'h> {
    pub(crate) harness: &'h dyn Harness,
    pub(crate) fabric: Arc<dyn Fabric>,
}

impl<'h> Scene<'h> {
    pub(crate) fn new(harness: &'h dyn Harness) -> Self {
        Self {
            harness,
            fabric: harness.fabric(),
        }
    }

    /// Somebody whose credential says who they are.
    pub(crate) async fn of(harness: &'h dyn Harness, identity: &str) -> Self {
        let identity = Identity::parse(identity).unwrap();
        Self::by(
            harness,
            Caller {
                actor: Actor::Client(identity),
                ..Caller::local()
            },
        )
        .await
    }

    /// Somebody with a role, a namespace, a lease.
    pub(crate) async fn by(harness: &'h dyn Harness, caller: Caller) -> Self {
        Self {
            harness,
            fabric: harness.fabric_for(caller).await,
        }
    }

    /// Submits `command`, which must be new.
    pub(crate) async fn submit(&self, command: CreateExecution) -> ExecutionId {
        match self.fabric.create_execution(command).await.unwrap() {
            Created::Created { execution_id: id } => id,
            duplicate @ Created::Duplicate { .. } => panic!("not new: {duplicate:?}"),
        }
    }

    /// Submits a plain execution.
    pub(crate) async fn submit_plain(&self) -> ExecutionId {
        self.submit(submission()).await
    }

    /// Submits plain executions a second apart, so that their order is known.
    pub(crate) async fn submit_in_turn(&self, count: usize) -> Vec<ExecutionId> {
        let mut ids = Vec::new();
        for _ in 0..count {
            ids.push(self.submit_plain().await);
            self.after(SECOND).await;
        }
        ids
    }

    /// A plain execution that lives in another partition than `id`; `None` when the store has but one.
    pub(crate) async fn of_another_partition(&self, id: ExecutionId) -> Option<ExecutionId> {
        for _ in 0..64 {
            let other = self.submit(in_lane("probe")).await;
            if other.partition() != id.partition() {
                return Some(other);
            }
        }
        None
    }

    /// Where an execution stands.
    pub(crate) async fn state(&self, id: ExecutionId) -> PublicState {
        self.fabric.get_state(id).await.unwrap().public_state
    }

    /// Where it stands, in all seven dimensions.
    pub(crate) async fn vector(&self, id: ExecutionId) -> StateVector {
        self.fabric.get_state(id).await.unwrap().state_vector
    }

    /// Everything about it.
    pub(crate) async fn view(&self, id: ExecutionId) -> ExecutionView {
        self.fabric.get_execution(id).await.unwrap()
    }

    /// Why it does not run, for a person.
    pub(crate) async fn detail(&self, id: ExecutionId) -> String {
        let state = self.fabric.get_state(id).await.unwrap();
        state.blocking_detail.expect("something is in its way")
    }

    /// What it was completed with.
    pub(crate) async fn result(&self, id: ExecutionId) -> Result<Payload> {
        self.fabric.get_result(On::new(id, GetResult::default())).await
    }

    /// What happened to it, oldest first.
    pub(crate) async fn history(&self, id: ExecutionId) -> Vec<HistoryLine> {
        self.fabric.get_history(On::new(id, all())).await.unwrap().items
    }

    /// The names of what happened to it, oldest first.
    pub(crate) async fn happenings(&self, id: ExecutionId) -> Vec<&'static str> {
        let lines = self.history(id).await;
        lines.iter().map(|line| line.what.as_str()).collect()
    }

    /// The store's time, as a new execution tells it.
    pub(crate) async fn now(&self) -> Timestamp {
        let probe = self.submit(in_lane("probe")).await;
        self.view(probe).await.created_at
    }

    /// Lets time pass and everything happen that is due.
    pub(crate) async fn after(&self, by: Duration) {
        self.harness.advance(by).await;
    }

    /// Lets everything happen that is due now.
    pub(crate) async fn settle(&self) {
        self.harness.settle().await;
    }

    /// A client cancels.
    pub(crate) async fn cancel(&self, id: ExecutionId) -> Result<Cancelled> {
        let command = CancelExecution {
            reason: "not wanted".to_owned(),
            fence: None,
        };
        self.fabric.cancel_execution(On::new(id, command)).await
    }

    /// An operator replays, and the follow-up work is done.
    pub(crate) async fn replay(&self, id: ExecutionId) -> Result<Replayed> {
        self.replay_with(id, ReplayExecution::default()).await
    }

    /// An operator replays, and keeps these steps.
    pub(crate) async fn replay_keeping(&self, id: ExecutionId, steps: KeepSteps) -> Result<Replayed> {
        let command = ReplayExecution {
            steps: Some(steps),
            ..ReplayExecution::default()
        };
        self.replay_with(id, command).await
    }

    async fn replay_with(&self, id: ExecutionId, command: ReplayExecution) -> Result<Replayed> {
        let replayed = self.fabric.replay_execution(On::new(id, command)).await;
        self.settle().await;
        replayed
    }

    /// An operator holds.
    pub(crate) async fn hold(&self, id: ExecutionId) -> Result<Changed> {
        let command = HoldExecution {
            reason: Some("look first".to_owned()),
        };
        self.fabric.hold(On::new(id, command)).await
    }

    /// An operator changes a lane, and waits until it is so everywhere.
    pub(crate) async fn set_lane(&self, name: &str, state: LaneState) -> Changed {
        let command = SetLaneState {
            namespace: Namespace::default_namespace(),
            lane_id: lane(name),
            state,
        };
        let changed = self.fabric.set_lane_state(command).await.unwrap();
        self.after(Duration::from_secs(2)).await;
        changed
    }
}

/// The code of a refusal.
pub(crate) fn refused<T: Debug>(answer: Result<T>) -> Code {
    answer.expect_err("this must be refused").code
}

/// The answer of somebody who should not be kept waiting: a case that hangs has failed.
pub(crate) async fn promptly<T>(answer: impl Future<Output = T>) -> T {
    let patience = std::time::Duration::from_secs(20);
    let answered = tokio::time::timeout(patience, answer).await;
    answered.expect("an answer, without anybody letting time pass")
}

/// The answers of calls that are made at the same time.
pub(crate) async fn at_once<T, C>(calls: impl IntoIterator<Item = C>) -> Vec<T>
where
    T: Send + 'static,
    C: Future<Output = T> + Send + 'static,
{
    let calls: Vec<_> = calls.into_iter().map(tokio::spawn).collect();
    let answers = join_all(calls).await.into_iter();
    answers.map(|answer| answer.expect("nobody panics")).collect()
}

/// A plain submission to the default lane.
pub(crate) fn submission() -> CreateExecution {
    CreateExecution::new(ExecutionKind::parse("job").unwrap(), Payload::json(&json!({ "n": 1 })))
}

/// A plain submission to another lane.
pub(crate) fn in_lane(name: &str) -> CreateExecution {
    CreateExecution {
        lane_id: lane(name),
        ..submission()
    }
}

/// A plain submission of another tenant.
pub(crate) fn elsewhere() -> CreateExecution {
    CreateExecution {
        namespace: other_namespace(),
        ..submission()
    }
}

/// A submission with a policy.
pub(crate) fn with_policy(policy: &Value) -> CreateExecution {
    CreateExecution {
        policy: Policy::from_json(policy).unwrap(),
        ..submission()
    }
}

/// A submission of something only some workers can do.
pub(crate) fn requiring(capabilities: &[&str]) -> CreateExecution {
    with_policy(&json!({ "routing_requirements": { "required_capabilities": capabilities } }))
}

/// A policy of `max_retries` without pauses.
pub(crate) fn retrying(max_retries: u32) -> CreateExecution {
    let backoff = json!({ "fixed": { "delay_ms": 0 } });
    with_policy(&json!({ "retry_policy": { "max_retries": max_retries, "backoff": backoff } }))
}

pub(crate) fn lane(name: &str) -> LaneId {
    LaneId::parse(name).unwrap()
}

pub(crate) fn other_namespace() -> Namespace {
    Namespace::parse("other").unwrap()
}

pub(crate) fn request(id: &str) -> Option<RequestId> {
    Some(RequestId::parse(id).unwrap())
}

/// The first page.
pub(crate) fn all() -> PageRequest {
    PageRequest {
        cursor: None,
        limit: Some(1_000),
    }
}

/// The first page of everything of one kind in the default namespace.
pub(crate) fn list() -> ListOf {
    ListOf {
        namespace: Namespace::default_namespace(),
        page: all(),
    }
}

/// A page of this many.
pub(crate) fn first(limit: usize) -> PageRequest {
    PageRequest {
        cursor: None,
        limit: Some(limit),
    }
}

/// An id nobody had before.
pub(crate) fn fresh() -> Uuid {
    Uuid::now_v7()
}

/// The id of an execution nobody has submitted.
pub(crate) fn nobody() -> ExecutionId {
    ExecutionId::new(0, fresh())
}

/// A new id in the partition of another execution.
pub(crate) fn beside(id: ExecutionId) -> ExecutionId {
    ExecutionId::new(id.partition().index, fresh())
}
