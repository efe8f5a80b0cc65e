//! Workers: how they get tasks and what they do with them.

use ff_core::caller::{Caller, Role};
use ff_core::capability::CapabilitySet;
use ff_core::command::claim::{Claim, ClaimForWorker, IssuedGrant, LaneOrder, RedeemGrant, Task, Want};
use ff_core::command::lease::{Complete, Completed, Fail, Failed, Holder, LetGo, Release, Renew};
use ff_core::command::operator::{RevokeLease, Revoked};
use ff_core::command::submit::CreateExecution;
use ff_core::command::worker::RegisterWorker;
use ff_core::fabric::{On, Result};
use ff_core::id::ExecutionId;
use ff_core::name::{Category, LaneId, Namespace, WorkerId, WorkerInstanceId};
use ff_core::payload::Payload;
use ff_core::record::Incarnation;
use ff_core::time::Duration;
use serde_json::json;

use super::{HOUR, MINUTE, Scene, fresh};

/// The worker most cases have.
pub(crate) const WORKER: &str = "worker-1";

impl Scene<'_> {
    /// What the worker gets when it asks for one task.
    pub(crate) async fn try_claim(&self, worker: &str) -> Option<Task> {
        self.fabric.claim(claim(worker)).await.unwrap().pop()
    }

    /// The task the worker gets.
    pub(crate) async fn claim(&self, worker: &str) -> Task {
        self.try_claim(worker).await.expect("something is eligible")
    }

    /// A claimed execution, whose worker has not been heard of since.
    pub(crate) async fn running(&self, command: CreateExecution) -> Task {
        let id = self.submit(command).await;
        let task = self.claim(WORKER).await;
        assert_eq!(task.execution_id, id);
        task
    }

    /// A claimed execution whose worker keeps it for an hour.
    pub(crate) async fn held(&self, command: CreateExecution) -> Task {
        let task = self.running(command).await;
        self.keep(&task).await;
        task
    }

    /// The task of a worker that takes whatever is next and keeps it for an hour.
    pub(crate) async fn claim_and_keep(&self) -> Task {
        let task = self.claim(WORKER).await;
        self.keep(&task).await;
        task
    }

    /// Keeps a lease for an hour.
    pub(crate) async fn keep(&self, task: &Task) {
        let renew = Renew {
            fence: Some(task.fence),
            ttl: Some(HOUR),
            doing: Vec::new(),
        };
        self.fabric.renew(On::new(task.execution_id, renew)).await.unwrap();
    }

    /// Whether workers that take everything there is get `id`.
    pub(crate) async fn is_handed_out(&self, id: ExecutionId) -> bool {
        while let Some(task) = self.try_claim(WORKER).await {
            if task.execution_id == id {
                return true;
            }
        }
        false
    }

    /// A grant for the worker.
    pub(crate) async fn grant(&self, worker: &str) -> Option<IssuedGrant> {
        self.try_grant(worker, None).await.unwrap()
    }

    /// A grant for the worker that lasts `grant_ttl`.
    pub(crate) async fn try_grant(&self, worker: &str, grant_ttl: Option<Duration>) -> Result<Option<IssuedGrant>> {
        let command = ClaimForWorker {
            namespace: Namespace::default_namespace(),
            lane: LaneId::default_lane(),
            worker: WorkerId::parse(worker).unwrap(),
            instance: instance(worker),
            capabilities: CapabilitySet::default(),
            grant_ttl,
        };
        self.fabric.claim_for_worker(command).await
    }

    /// Turns a grant into a lease.
    pub(crate) async fn redeem(&self, worker: &str, grant: &IssuedGrant) -> Result<Task> {
        self.fabric.claim_from_grant(redemption(worker, grant)).await
    }

    /// Somebody who shows the lease of a task and otherwise may do what whoever runs this scene may.
    pub(crate) async fn holding(&self, task: &Task) -> Self {
        Self::by(self.harness, holding(task, Role::Admin)).await
    }

    /// Completes a task.
    pub(crate) async fn complete(&self, task: &Task) -> Result<Completed> {
        let command = Complete {
            fence: Some(task.fence),
            result: Some(Payload::json(&json!({ "done": true }))),
            ..Complete::default()
        };
        self.fabric.complete(On::new(task.execution_id, command)).await
    }

    /// Completes a task, and what follows from it is done.
    pub(crate) async fn finish(&self, task: &Task) {
        assert_eq!(self.complete(task).await.unwrap(), Completed::Now);
        self.settle().await;
    }

    /// Fails a task.
    pub(crate) async fn fail(&self, task: &Task, category: &str) -> Result<Failed> {
        self.fail_with(task, category, None).await
    }

    /// Fails a task, and says how long a retry is of no use.
    pub(crate) async fn fail_for_now(&self, task: &Task, category: &str, retry_after: Duration) -> Result<Failed> {
        self.fail_with(task, category, Some(retry_after)).await
    }

    async fn fail_with(&self, task: &Task, category: &str, retry_after: Option<Duration>) -> Result<Failed> {
        let command = Fail {
            fence: Some(task.fence),
            reason: "it broke".to_owned(),
            category: Category::parse(category).unwrap(),
            retry_after,
            steps: Vec::new(),
        };
        self.fabric.fail(On::new(task.execution_id, command)).await
    }

    /// Fails a task for good, and what follows from it is done.
    pub(crate) async fn break_down(&self, task: &Task) {
        assert_eq!(self.fail(task, "permanent").await.unwrap(), Failed::TerminalFailed);
        self.settle().await;
    }

    /// Gives a task back.
    pub(crate) async fn release(&self, task: &Task) -> Result<LetGo> {
        let fence = Some(task.fence);
        self.fabric
            .release(On::new(
                task.execution_id,
                Release {
                    fence,
                    ..Release::default()
                },
            ))
            .await
    }

    /// An operator takes the lease away.
    pub(crate) async fn revoke(&self, id: ExecutionId) -> Result<Revoked> {
        let command = RevokeLease {
            reason: Some("stuck".to_owned()),
            expected_lease_epoch: None,
            request_id: None,
        };
        self.fabric.revoke_lease(On::new(id, command)).await
    }

    /// A worker of the default lane that offers nothing special announces itself.
    pub(crate) async fn register(&self, worker: &str) {
        self.fabric.register_worker(registration(worker)).await.unwrap();
    }
}

/// A caller of this role that shows the lease of a task.
pub(crate) fn holding(task: &Task, role: Role) -> Caller {
    Caller {
        role,
        held: Some(Holder {
            execution_id: task.execution_id,
            fence: task.fence,
        }),
        ..Caller::local()
    }
}

fn redemption(worker: &str, grant: &IssuedGrant) -> RedeemGrant {
    RedeemGrant {
        grant: grant.grant.clone(),
        worker: WorkerId::parse(worker).unwrap(),
        instance: instance(worker),
        lease_ttl: None,
    }
}

/// A claim for one task of the default lane, without waiting.
pub(crate) fn claim(worker: &str) -> Claim {
    Claim {
        namespace: Namespace::default_namespace(),
        worker: WorkerId::parse(worker).unwrap(),
        instance: instance(worker),
        incarnation: None,
        want: Want {
            lanes: vec![LaneId::default_lane()],
            lane_order: LaneOrder::Strict,
            capabilities: CapabilitySet::default(),
            max: 1,
            lease_ttl: None,
        },
        wait: Duration::ZERO,
    }
}

/// The registration of a fresh process of a worker of the default lane, good for a minute.
pub(crate) fn registration(worker: &str) -> RegisterWorker {
    RegisterWorker {
        namespace: Namespace::default_namespace(),
        worker: WorkerId::parse(worker).unwrap(),
        instance: instance(worker),
        incarnation: Incarnation(fresh()),
        lanes: vec![LaneId::default_lane()],
        capabilities: CapabilitySet::default(),
        ttl: Some(MINUTE),
        load: Default::default(),
    }
}

/// The one process slot of a worker.
pub(crate) fn instance(worker: &str) -> WorkerInstanceId {
    WorkerInstanceId::parse(format!("{worker}-a")).unwrap()
}
