//! get_execution, get_state, get_result.

use ff_backend::Backend;
use ff_backend::limits::{self, Direct};
use ff_backend::settings::{Expected, SettingsOp};
use ff_core::capability::CapabilitySet;
use ff_core::command::flow::{Assembly, ReplayExecution};
use ff_core::command::quota::CreateQuotaPolicy;
use ff_core::command::submit::{CreateExecution, LaneState};
use ff_core::error::Code;
use ff_core::fabric::{Fabric, On};
use ff_core::id::{ExecutionId, QuotaPolicyId};
use ff_core::machine::replay::{self, Past};
use ff_core::name::{LaneId, Namespace};
use ff_core::policy::Policy;
use ff_core::record::{Lane, ReasonCode};
use ff_core::state::{BlockingReason, EligibilityState, PublicState};
use ff_core::time::Duration;
use ff_core::view::GetResult;

use crate::reads::stage::{How, Stage, code, submission, submission_in};

#[tokio::test]
async fn an_execution_that_waits_shows_what_it_waits_for() {
    let stage = Stage::new();
    let id = stage.submit(&submission()).await;
    let state = stage.engine.get_state(id).await.unwrap();
    assert_eq!(state.public_state, PublicState::Waiting);
    assert_eq!(
        state.state_vector.blocking_reason,
        BlockingReason::WaitingForCapableWorker
    );
    assert_eq!(state.blocking_detail.unwrap(), "no live worker serves lane default");

    stage.register("worker-1", &[]).await;
    let state = stage.engine.get_state(id).await.unwrap();
    assert_eq!(state.state_vector.blocking_reason, BlockingReason::WaitingForWorker);
    assert_eq!(state.blocking_detail, None);

    stage.hold(id, "looks odd").await;
    let view = stage.engine.get_execution(id).await.unwrap();
    assert_eq!(
        view.state.state_vector.eligibility_state,
        EligibilityState::BlockedByOperator
    );
    assert!(view.state.blocking_detail.unwrap().ends_with("looks odd"));
    assert_eq!(
        (view.attempt_index, view.attempt_count, view.started_at),
        (None, 0, None)
    );
}

#[tokio::test]
async fn a_worker_that_lacks_a_capability_or_was_not_heard_of_takes_nothing() {
    let stage = Stage::new();
    let mut command = submission();
    command.policy.routing_requirements.required_capabilities = CapabilitySet::parse(["gpu", "large"]).unwrap();
    let id = stage.submit(&command).await;
    stage.register("worker-1", &["gpu"]).await;
    let state = stage.engine.get_state(id).await.unwrap();
    assert_eq!(state.state_vector.eligibility_state, EligibilityState::BlockedByRoute);
    assert!(
        state
            .blocking_detail
            .unwrap()
            .ends_with("the nearest, worker-1, lacks large")
    );

    stage.register("worker-2", &["gpu", "large", "fast"]).await;
    let state = stage.engine.get_state(id).await.unwrap();
    assert_eq!(state.state_vector.eligibility_state, EligibilityState::EligibleNow);

    stage.advance(Duration::from_secs(61));
    let state = stage.engine.get_state(id).await.unwrap();
    assert_eq!(state.blocking_detail.unwrap(), "no live worker serves lane default");
}

#[tokio::test]
async fn a_paused_lane_shows_over_the_execution() {
    let stage = Stage::new();
    let id = stage.submit(&submission()).await;
    stage.register("worker-1", &[]).await;
    stage.set_lane(LaneState::Paused).await;
    let state = stage.engine.get_state(id).await.unwrap();
    assert_eq!(
        state.state_vector.eligibility_state,
        EligibilityState::BlockedByLaneState
    );
    assert_eq!(state.blocking_detail.unwrap(), "lane default is paused");
    assert_eq!(state.public_state, PublicState::Waiting);
}

#[tokio::test]
async fn a_full_quota_shows_unless_the_execution_was_promised_its_slot() {
    let stage = Stage::new();
    let quota = stage.create_quota(Some(0)).await;
    let command = CreateExecution {
        policy: Policy {
            quota_policy_id: Some(quota),
            ..Policy::default()
        },
        ..submission()
    };
    let id = stage.submit(&command).await;
    stage.register("worker-1", &[]).await;
    let state = stage.engine.get_state(id).await.unwrap();
    assert_eq!(state.state_vector.blocking_reason, BlockingReason::WaitingForQuota);
    assert!(state.blocking_detail.unwrap().ends_with("all its leases are taken"));

    assert_eq!(stage.grant().await, id);
    let view = stage.engine.get_execution(id).await.unwrap();
    assert_eq!(view.state.state_vector.eligibility_state, EligibilityState::EligibleNow);
    assert_eq!(view.grant.unwrap().worker.as_str(), "worker");
    assert!(view.state.blocking_detail.unwrap().starts_with("granted to worker"));
}

#[tokio::test]
async fn members_show_what_their_flow_does_to_them() {
    let stage = Stage::new();
    stage.register("worker-1", &[]).await;
    let open = stage.create_flow(Assembly::Open).await;
    let upstream = stage.submit_member(open, &[]).await;
    let downstream = stage.submit_member(open, &[upstream]).await;
    let state = stage.engine.get_state(downstream).await.unwrap();
    assert_eq!(state.public_state, PublicState::WaitingChildren);
    assert_eq!(state.blocking_detail.unwrap(), "waiting for 1 of its dependencies");

    stage.cancel_flow(open).await;
    let state = stage.engine.get_state(upstream).await.unwrap();
    assert_eq!(state.state_vector.blocking_reason, BlockingReason::PausedByFlowCancel);

    let unopened = stage.create_flow(Assembly::Assembling).await;
    let member = stage.submit_member(unopened, &[]).await;
    let state = stage.engine.get_state(member).await.unwrap();
    assert_eq!(state.blocking_detail.unwrap(), "flow not opened yet");
}

#[tokio::test]
async fn a_running_and_an_ended_execution_show_who_had_it_and_what_came_of_it() {
    let stage = Stage::new();
    stage.submit(&submission()).await;
    let (id, fence) = stage.claim().await;
    let view = stage.engine.get_execution(id).await.unwrap();
    assert_eq!(view.worker_instance.unwrap().as_str(), "worker-1");
    assert_eq!(
        (view.attempt_index, view.attempt_count, view.lease_epoch),
        (Some(0), 1, 1)
    );
    assert_eq!(view.started_at, Some(stage.now()));
    assert_eq!(
        code(stage.engine.get_result(On::new(id, GetResult::default())).await),
        Code::ResultNotAvailable
    );

    stage.complete(id, fence, Some("done")).await;
    let view = stage.engine.get_execution(id).await.unwrap();
    assert_eq!((view.worker, view.completed_at), (None, Some(stage.now())));
    assert_eq!(view.result_bytes, Some(4));
    assert_eq!(
        &stage
            .engine
            .get_result(On::new(id, GetResult::default()))
            .await
            .unwrap()
            .bytes[..],
        b"done"
    );
}

#[tokio::test]
async fn the_result_of_an_earlier_run_stays_until_this_one_ends() {
    let stage = Stage::new();
    stage.submit(&submission()).await;
    let (id, fence) = stage.claim().await;
    stage.complete(id, fence, Some("first")).await;
    stage.replay(id).await;
    assert_eq!(
        stage
            .engine
            .get_result(On::new(id, GetResult::default()))
            .await
            .unwrap()
            .bytes,
        "first"
    );
    let (_, fence) = stage.claim().await;
    stage.complete(id, fence, None).await;
    assert_eq!(
        code(stage.engine.get_result(On::new(id, GetResult::default())).await),
        Code::ResultNotAvailable
    );
}

#[tokio::test]
async fn a_suspension_shows_without_tokens() {
    let stage = Stage::new();
    let (id, waitpoint) = stage.suspended(How::waiting_for(ReasonCode::WaitingForApproval)).await;
    let view = stage.engine.get_execution(id).await.unwrap();
    assert_eq!(
        view.state.state_vector.blocking_reason,
        BlockingReason::WaitingForApproval
    );
    let suspension = view.suspension.unwrap();
    assert_eq!(suspension.waitpoints[0].id, waitpoint);
    assert!(!suspension.escalated);
}

#[tokio::test]
async fn what_belongs_to_another_namespace_is_not_there() {
    let stage = Stage::new();
    let id = stage.submit(&submission_in("other")).await;
    let never = ExecutionId::new(id.partition().index, uuid::Uuid::from_u128(u128::MAX));
    let engine = stage.bound_to("mine");
    for unseen in [id, never] {
        assert_eq!(code(engine.get_execution(unseen).await), Code::ExecutionNotFound);
        assert_eq!(
            code(engine.get_result(On::new(unseen, GetResult::default())).await),
            Code::ExecutionNotFound
        );
        assert_eq!(code(engine.explain(unseen).await), Code::ExecutionNotFound);
    }
    assert!(stage.bound_to("other").get_execution(id).await.is_ok());
    assert_eq!(
        code(engine.get_state(ExecutionId::new(99, uuid::Uuid::nil())).await),
        Code::InvalidId
    );
}

impl Stage {
    pub(crate) async fn set_lane(&self, state: LaneState) {
        self.write_lane(&Lane {
            namespace: Namespace::default_namespace(),
            lane: LaneId::default_lane(),
            state,
            created_at: self.now(),
            updated_at: self.now(),
            carried: Default::default(),
        })
        .await;
    }

    pub(crate) async fn write_lane(&self, lane: &Lane) {
        let put = SettingsOp::Put {
            key: format!("lane/{}/{}", lane.namespace, lane.lane),
            value: serde_json::to_value(lane).ok(),
            expected: Expected::Anything,
            ttl: None,
        };
        self.backend.settings(vec![put]).await.unwrap();
    }

    pub(crate) async fn create_quota(&self, max_concurrent: Option<u64>) -> QuotaPolicyId {
        let quota_policy_id = QuotaPolicyId::from_uuid(self.mint());
        let command = CreateQuotaPolicy {
            quota_policy_id: Some(quota_policy_id),
            namespace: Namespace::default_namespace(),
            window: Duration::from_secs(60),
            max_requests_per_window: Some(10),
            max_concurrent,
            jitter: Duration::ZERO,
        };
        let direct = Direct::new(self.backend.clone());
        let created = limits::quotas::create(&direct, quota_policy_id, &command).await;
        created.unwrap();
        quota_policy_id
    }

    pub(crate) async fn replay(&self, id: ExecutionId) {
        let past = Past {
            archived: false,
            has_failed_edges: false,
            steps: Vec::new(),
        };
        let command = ReplayExecution::default();
        self.decide(id, |execution, context| {
            replay::replay(execution, &command, &past, context)
        })
        .await;
    }
}
