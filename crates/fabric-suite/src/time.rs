//! What time does, and what is done later: every row of the pump has a case that fails without it.

use ff_core::command::budget::{CreateBudget, Reported, ResetBudget, UpdateLimits};
use ff_core::command::claim::Task;
use ff_core::command::flow::{CancelFlow, CreateFlowWith, ReplayExecution};
use ff_core::command::lease::{Completed, Renew};
use ff_core::command::submit::CreateExecution;
use ff_core::command::suspend::Suspend;
use ff_core::error::Code;
use ff_core::fabric::On;
use ff_core::id::BudgetId;
use ff_core::policy::Retention;
use ff_core::record::{CancelFlowPolicy, EdgeGroupPolicy, Limits, OnHardLimit, OnSatisfied, TimeoutBehavior};
use ff_core::state::{EligibilityState, PublicState};
use ff_core::time::Duration;
use serde_json::json;

use crate::Harness;
use crate::scene::{
    HOUR, MINUTE, SECOND, Scene, WORKER, budget_of, flow_definition, limited, list, submission, tokens, under, waiting,
    with_policy,
};

pub(crate) async fn a_delayed_execution_becomes_eligible(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let delayed = CreateExecution {
        delay_until: Some(scene.now().await + MINUTE),
        ..submission()
    };
    let id = scene.submit(delayed).await;
    assert_eq!(scene.state(id).await, PublicState::Delayed);
    assert!(scene.try_claim(WORKER).await.is_none());
    scene.after(MINUTE).await;
    assert_eq!(scene.claim(WORKER).await.execution_id, id);
}

pub(crate) async fn a_lapsed_grant_goes_back_to_its_queue(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let id = scene.submit_plain().await;
    scene.grant(WORKER).await.unwrap();
    assert!(scene.try_claim("other").await.is_none());
    scene.after(MINUTE).await;
    assert_eq!(scene.claim("other").await.execution_id, id);
}

pub(crate) async fn an_expired_lease_is_claimed_by_the_next_worker(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    scene.keep(&task).await;
    scene.after(HOUR).await;
    let next = scene.claim("other").await;
    assert_eq!((next.execution_id, next.attempt_index), (task.execution_id, 1));
}

pub(crate) async fn an_attempt_timeout_fails_the_attempt(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let policy = json!({ "timeout_policy": { "attempt_timeout_ms": 5000 } });
    let task = scene.running(with_policy(&policy)).await;
    scene.keep(&task).await;
    scene.after(Duration::from_secs(5)).await;
    let view = scene.fabric.get_execution(task.execution_id).await.unwrap();
    assert_eq!(view.state.public_state, PublicState::Failed);
    assert_eq!(view.failure.unwrap().category.as_str(), "timeout");
}

pub(crate) async fn a_deadline_expires_the_execution(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let policy = json!({ "timeout_policy": { "execution_deadline_ms": 5000 } });
    let id = scene.submit(with_policy(&policy)).await;
    scene.after(Duration::from_secs(5)).await;
    assert_eq!(scene.state(id).await, PublicState::Expired);
}

pub(crate) async fn a_suspension_times_out_as_it_was_told(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    let suspend = Suspend {
        timeout_at: Some(task.now + MINUTE),
        timeout_behavior: Some(TimeoutBehavior::Expire),
        ..waiting(&task)
    };
    scene.suspended(&task, suspend).await;
    assert_eq!(scene.state(task.execution_id).await, PublicState::Suspended);
    scene.after(MINUTE).await;
    assert_eq!(scene.state(task.execution_id).await, PublicState::Expired);
}

pub(crate) async fn an_unused_pending_waitpoint_closes(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    scene.try_hand_out(&task, "callback", SECOND).await.unwrap();
    scene.after(SECOND).await;
    let told = scene.happenings(task.execution_id).await;
    assert!(told.contains(&"waitpoint_expired"));
}

pub(crate) async fn a_budget_that_resets_releases_what_waits(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let budget = budget(&scene, Some(MINUTE), OnHardLimit::Block).await;
    scene.spend(budget, 10).await.unwrap();
    let id = scene.submit(under(budget)).await;
    assert!(scene.try_claim(WORKER).await.is_none());
    assert_eq!(scene.state(id).await, PublicState::RateLimited);
    scene.after(MINUTE).await;
    assert_eq!(scene.claim(WORKER).await.execution_id, id);
}

pub(crate) async fn a_window_that_moves_releases_what_waits(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let quota = scene.quota(Some(1), None).await;
    let first = scene.submit(limited(quota)).await;
    let second = scene.submit(limited(quota)).await;
    let task = scene.claim(WORKER).await;
    assert_eq!(task.execution_id, first);
    assert!(scene.try_claim(WORKER).await.is_none());
    assert_eq!(scene.state(second).await, PublicState::RateLimited);
    scene.after(MINUTE).await;
    assert!(scene.is_handed_out(second).await);
}

pub(crate) async fn a_freed_slot_releases_what_waits(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let quota = scene.quota(None, Some(1)).await;
    let first = scene.submit(limited(quota)).await;
    let second = scene.submit(limited(quota)).await;
    let task = scene.claim(WORKER).await;
    assert_eq!(task.execution_id, first);
    assert!(scene.try_claim(WORKER).await.is_none());
    assert_eq!(scene.state(second).await, PublicState::RateLimited);
    scene.complete(&task).await.unwrap();
    harness.settle().await;
    assert_eq!(scene.claim(WORKER).await.execution_id, second);
}

pub(crate) async fn the_end_of_a_parent_lets_its_child_go(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let graph = scene.flow(&[("parent", &[]), ("child", &["parent"])]).await;
    assert_eq!(scene.state(graph.member("child")).await, PublicState::WaitingChildren);
    let parent = scene.claim(WORKER).await;
    assert_eq!(parent.execution_id, graph.member("parent"));
    assert!(scene.try_claim(WORKER).await.is_none());
    scene.complete(&parent).await.unwrap();
    harness.settle().await;
    assert_eq!(scene.claim(WORKER).await.execution_id, graph.member("child"));
}

pub(crate) async fn the_failure_of_a_parent_skips_its_descendants(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let graph = scene.flow(&[("a", &[]), ("b", &["a"]), ("c", &["b"])]).await;
    let task = scene.claim(WORKER).await;
    scene.fail(&task, "permanent").await.unwrap();
    harness.settle().await;
    assert_eq!(scene.state(graph.member("b")).await, PublicState::Skipped);
    assert_eq!(scene.state(graph.member("c")).await, PublicState::Skipped);
}

pub(crate) async fn a_decided_group_cancels_who_it_no_longer_needs(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let any = EdgeGroupPolicy::AnyOf {
        on_satisfied: OnSatisfied::CancelRemaining,
    };
    let policy = |key: &str| (key == "child").then_some(any);
    let members: &[(&str, &[&str])] = &[("a", &[]), ("b", &[]), ("child", &["a", "b"])];
    let graph = scene.flow_with(members, policy, true).await;
    let winner = scene.claim(WORKER).await;
    scene.complete(&winner).await.unwrap();
    harness.settle().await;
    let others = ["a", "b"].map(|name| graph.member(name));
    let loser = others.into_iter().find(|id| *id != winner.execution_id).unwrap();
    assert_eq!(scene.state(loser).await, PublicState::Cancelled);
    assert_eq!(scene.claim(WORKER).await.execution_id, graph.member("child"));
}

pub(crate) async fn a_cancelled_flow_cancels_its_members(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let graph = scene.flow(&[("a", &[]), ("b", &["a"])]).await;
    let cancel = CancelFlow {
        reason: "enough".to_owned(),
        policy: CancelFlowPolicy::CancelAll,
        wait: Duration::ZERO,
    };
    scene.fabric.cancel_flow(On::new(graph.flow_id, cancel)).await.unwrap();
    assert!(
        scene.try_claim(WORKER).await.is_none(),
        "the gate is closed when the call returns"
    );
    harness.settle().await;
    for member in graph.members.values() {
        assert_eq!(scene.state(*member).await, PublicState::Cancelled);
    }
}

pub(crate) async fn an_opened_flow_lets_its_members_go(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let graph = scene.flow_with(&[("a", &[])], |_| None, false).await;
    assert!(scene.try_claim(WORKER).await.is_none());
    scene.fabric.open_flow(graph.flow_id).await.unwrap();
    harness.settle().await;
    assert_eq!(scene.claim(WORKER).await.execution_id, graph.member("a"));
}

pub(crate) async fn a_replay_reopens_skipped_descendants(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let graph = scene.flow(&[("a", &[]), ("b", &["a"])]).await;
    let task = scene.claim(WORKER).await;
    scene.fail(&task, "permanent").await.unwrap();
    harness.settle().await;
    assert_eq!(scene.state(graph.member("b")).await, PublicState::Skipped);
    let replay = On::new(graph.member("a"), ReplayExecution::default());
    scene.fabric.replay_execution(replay).await.unwrap();
    harness.settle().await;
    assert_eq!(scene.state(graph.member("b")).await, PublicState::WaitingChildren);
    let again = scene.claim(WORKER).await;
    assert_eq!(again.execution_id, graph.member("a"));
    scene.complete(&again).await.unwrap();
    harness.settle().await;
    assert_eq!(scene.claim(WORKER).await.execution_id, graph.member("b"));
}

pub(crate) async fn usage_reaches_its_budget(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let budget = budget(&scene, None, OnHardLimit::Block).await;
    let task = scene.running(under(budget)).await;
    let reported = scene.report(&task, budget, 3).await.unwrap();
    assert_eq!(reported, Reported::Ok);
    harness.settle().await;
    assert_eq!(scene.spent(budget).await, 3);
}

pub(crate) async fn an_ended_execution_is_forgotten_after_its_retention(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(with_policy(&json!({ "retention_ms": 60_000 }))).await;
    scene.complete(&task).await.unwrap();
    scene.after(MINUTE).await;
    let refused = scene.fabric.get_execution(task.execution_id).await.unwrap_err();
    assert_eq!(refused.code, Code::ExecutionNotFound);
}

pub(crate) async fn an_ended_flow_is_forgotten_with_its_members(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let mut definition = flow_definition();
    definition.assembly = ff_core::command::flow::Assembly::Open;
    definition.retention = Some(Retention::For(MINUTE));
    let created = scene
        .fabric
        .create_flow(CreateFlowWith {
            flow_id: None,
            definition,
        })
        .await
        .unwrap();
    let member = CreateExecution {
        flow_id: Some(created.flow_id),
        ..submission()
    };
    let task = scene.running(member).await;
    scene.complete(&task).await.unwrap();
    harness.settle().await;
    scene.after(MINUTE).await;
    scene.after(SECOND).await;
    assert_eq!(
        scene.fabric.get_flow(created.flow_id).await.unwrap_err().code,
        Code::FlowNotFound
    );
    let gone = scene.fabric.get_execution(task.execution_id).await.unwrap_err();
    assert_eq!(gone.code, Code::ExecutionNotFound);
}

pub(crate) async fn a_worker_that_is_silent_is_gone(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    scene.register(WORKER).await;
    assert_eq!(scene.fabric.list_workers(list()).await.unwrap().items.len(), 1);
    scene.after(MINUTE).await;
    assert!(scene.fabric.list_workers(list()).await.unwrap().items.is_empty());
}

pub(crate) async fn a_breached_budget_stops_what_runs(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let budget = budget(&scene, None, OnHardLimit::CancelActive).await;
    let task = scene.running(under(budget)).await;
    scene.keep(&task).await;
    scene.spend(budget, 11).await.unwrap();
    harness.settle().await;
    let renew = Renew {
        fence: Some(task.fence),
        ttl: None,
        doing: Vec::new(),
    };
    let renewed = scene.fabric.renew(On::new(task.execution_id, renew)).await.unwrap();
    assert!(renewed.stop_requested.is_some());
    scene.after(Duration::from_secs(30)).await;
    assert_eq!(scene.state(task.execution_id).await, PublicState::Cancelled);
}

pub(crate) async fn a_budget_that_opens_again_lets_what_runs_go_on(harness: &dyn Harness) {
    for cure in [Cure::Reset, Cure::Raise, Cure::Time, Cure::Delete] {
        let scene = Scene::new(harness);
        let interval = (cure == Cure::Time).then_some(Duration::from_secs(20));
        let budget = budget(&scene, interval, OnHardLimit::CancelActive).await;
        let task = scene.held(under(budget)).await;
        scene.spend(budget, 11).await.unwrap();
        harness.settle().await;
        assert!(is_asked_to_stop(&scene, &task).await, "{cure:?}");
        cure.apply(&scene, budget).await;
        scene.after(Duration::from_secs(20)).await;
        assert!(!is_asked_to_stop(&scene, &task).await, "{cure:?}");
        assert!(scene.happenings(task.execution_id).await.contains(&"stop_withdrawn"));
        scene.after(MINUTE).await;
        assert_eq!(scene.complete(&task).await.unwrap(), Completed::Now, "{cure:?}");
    }
}

pub(crate) async fn what_two_budgets_stop_goes_on_when_both_are_open(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let mut budgets = Vec::new();
    for _ in 0..2 {
        budgets.push(budget(&scene, None, OnHardLimit::CancelActive).await);
    }
    let task = scene.held(with_policy(&json!({ "budget_ids": budgets }))).await;
    for budget in &budgets {
        scene.spend(*budget, 11).await.unwrap();
        harness.settle().await;
        scene.after(SECOND).await;
    }
    Cure::Reset.apply(&scene, budgets[0]).await;
    harness.settle().await;
    assert!(is_asked_to_stop(&scene, &task).await, "the other one is still breached");
    scene.after(Duration::from_secs(28)).await;
    assert!(
        is_asked_to_stop(&scene, &task).await,
        "by the moment the other one gave it"
    );
    Cure::Reset.apply(&scene, budgets[1]).await;
    harness.settle().await;
    assert!(!is_asked_to_stop(&scene, &task).await);
}

pub(crate) async fn a_budget_that_is_breached_again_asks_again(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let budget = budget(&scene, None, OnHardLimit::CancelActive).await;
    let task = scene.held(under(budget)).await;
    scene.spend(budget, 11).await.unwrap();
    harness.settle().await;
    scene.after(Duration::from_secs(20)).await;
    // Both changes are there before anything running is told.
    Cure::Reset.apply(&scene, budget).await;
    scene.spend(budget, 11).await.unwrap();
    harness.settle().await;
    scene.after(Duration::from_secs(29)).await;
    assert!(is_asked_to_stop(&scene, &task).await, "30 s from the second breach");
    scene.after(SECOND).await;
    assert_eq!(scene.state(task.execution_id).await, PublicState::Cancelled);
}

pub(crate) async fn a_grant_redeemed_after_the_breach_is_asked_to_stop(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let budget = budget(&scene, None, OnHardLimit::CancelActive).await;
    scene.submit(under(budget)).await;
    let grant = scene.try_grant(WORKER, Some(MINUTE)).await.unwrap().unwrap();
    scene.spend(budget, 11).await.unwrap();
    harness.settle().await;
    scene.after(SECOND).await;
    let task = scene.redeem(WORKER, &grant).await.unwrap();
    scene.keep(&task).await;
    scene.after(Duration::from_secs(10)).await;
    assert!(is_asked_to_stop(&scene, &task).await);
    scene.after(Duration::from_secs(30)).await;
    assert_eq!(scene.state(task.execution_id).await, PublicState::Cancelled);
}

pub(crate) async fn work_queued_under_a_closed_budget_is_shown_as_blocked(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let budget = budget(&scene, None, OnHardLimit::Block).await;
    scene.spend(budget, 10).await.unwrap();
    let mut ids = Vec::new();
    for _ in 0..100 {
        ids.push(scene.submit(under(budget)).await);
    }
    assert!(scene.try_claim(WORKER).await.is_none());
    scene.after(SECOND).await;
    for id in ids {
        let state = scene.fabric.get_state(id).await.unwrap();
        assert_eq!(state.state_vector.eligibility_state, EligibilityState::BlockedByBudget);
    }
}

async fn is_asked_to_stop(scene: &Scene<'_>, task: &Task) -> bool {
    let renew = Renew {
        fence: Some(task.fence),
        ttl: None,
        doing: Vec::new(),
    };
    let renewed = scene.fabric.renew(On::new(task.execution_id, renew)).await.unwrap();
    renewed.stop_requested.is_some()
}

/// How a breached budget opens again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cure {
    Reset,
    Raise,
    Time,
    Delete,
}

impl Cure {
    async fn apply(self, scene: &Scene<'_>, budget: BudgetId) {
        match self {
            Cure::Reset => {
                let reset = ResetBudget::default();
                scene.fabric.reset_budget(On::new(budget, reset)).await.unwrap();
            }
            Cure::Raise => {
                let hard = Limits {
                    soft: None,
                    hard: Some(20),
                };
                let dimensions = [(tokens(), hard)].into();
                let raise = UpdateLimits { dimensions };
                scene.fabric.update_limits(On::new(budget, raise)).await.unwrap();
            }
            Cure::Time => {}
            Cure::Delete => {
                scene.fabric.delete_budget(budget).await.unwrap();
            }
        }
    }
}

/// A budget of ten tokens.
async fn budget(scene: &Scene<'_>, reset_interval: Option<Duration>, on_hard_limit: OnHardLimit) -> BudgetId {
    let command = CreateBudget {
        reset_interval,
        on_hard_limit,
        ..budget_of(10)
    };
    scene.fabric.create_budget(command).await.unwrap().budget_id
}
