//! What lanes accept and hand out.

use std::sync::Arc;

use ff_core::capability::CapabilitySet;
use ff_core::command::claim::Claim;
use ff_core::command::lane::{GetLane, SetLaneState};
use ff_core::command::lease::Completed;
use ff_core::command::operator::Changed;
use ff_core::command::page::{ListOf, PageRequest};
use ff_core::command::submit::LaneState;
use ff_core::command::worker::{DrainWorker, RegisterWorker};
use ff_core::name::Namespace;
use ff_core::state::{BlockingReason, EligibilityState, PublicState};
use ff_core::time::Duration;
use ff_core::view::HowMany;

use crate::Harness;
use crate::scene::{
    SECOND, Scene, WORKER, all, claim, elsewhere, first, in_lane, instance, lane, list, other_namespace, promptly,
    registration, requiring, submission, under,
};

pub(crate) async fn setting_the_same_state_changes_nothing(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    assert_eq!(scene.set_lane("new", LaneState::Paused).await, Changed::Now);
    assert_eq!(scene.set_lane("new", LaneState::Paused).await, Changed::Already);
}

pub(crate) async fn a_paused_lane_accepts_and_hands_out_nothing_until_it_is_resumed(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    scene.set_lane("default", LaneState::Paused).await;
    let id = scene.submit_plain().await;
    assert!(scene.try_claim(WORKER).await.is_none());
    scene.set_lane("default", LaneState::Active).await;
    assert_eq!(scene.claim(WORKER).await.execution_id, id);
}

pub(crate) async fn a_draining_lane_hands_out_what_it_has(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let id = scene.submit_plain().await;
    scene.set_lane("default", LaneState::Draining).await;
    assert_eq!(scene.claim(WORKER).await.execution_id, id);
}

pub(crate) async fn a_disabled_lane_lets_running_work_end(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.held(submission()).await;
    let waits = scene.submit_plain().await;
    scene.set_lane("default", LaneState::Disabled).await;
    assert!(scene.try_claim(WORKER).await.is_none());
    assert_eq!(scene.complete(&task).await.unwrap(), Completed::Now);
    assert_eq!(scene.state(waits).await, PublicState::Waiting);
}

pub(crate) async fn resuming_a_lane_wakes_who_waits(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    scene.set_lane("default", LaneState::Paused).await;
    let id = scene.submit_plain().await;
    let fabric = Arc::clone(&scene.fabric);
    let parked = tokio::spawn(async move {
        let patient = Claim {
            wait: Duration::from_secs(30),
            ..claim("patient")
        };
        fabric.claim(patient).await
    });
    let resume = SetLaneState {
        namespace: Namespace::default_namespace(),
        lane_id: lane("default"),
        state: LaneState::Active,
    };
    scene.fabric.set_lane_state(resume).await.unwrap();
    let tasks = promptly(parked).await.unwrap().unwrap();
    assert_eq!(tasks[0].execution_id, id);
}

pub(crate) async fn a_paused_lane_shows_on_what_waits_in_it(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let id = scene.submit_plain().await;
    scene.set_lane("default", LaneState::Paused).await;
    let vector = scene.vector(id).await;
    assert_eq!(vector.eligibility_state, EligibilityState::BlockedByLaneState);
    assert_eq!(vector.blocking_reason, BlockingReason::PausedByPolicy);
    assert_eq!(vector.public_state, PublicState::Waiting);
}

pub(crate) async fn a_lane_is_of_one_namespace(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    scene.set_lane("default", LaneState::Disabled).await;
    scene.submit(elsewhere()).await;
    let lanes = scene.fabric.list_lanes(list()).await.unwrap().items;
    assert_eq!(lanes.len(), 1);
    assert_eq!(lanes[0].state, LaneState::Disabled);
    let of_another = ListOf {
        namespace: other_namespace(),
        page: all(),
    };
    let lanes = scene.fabric.list_lanes(of_another).await.unwrap().items;
    assert_eq!((lanes.len(), lanes[0].state), (1, LaneState::Active));
}

pub(crate) async fn lanes_are_listed_by_name_with_their_depths(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let oldest = scene.submit(in_lane("b")).await;
    scene.after(SECOND).await;
    let cancelled = scene.submit(in_lane("b")).await;
    scene.submit(in_lane("b")).await;
    scene.submit(in_lane("a")).await;
    scene.cancel(cancelled).await.unwrap();
    let lanes = scene.fabric.list_lanes(list()).await.unwrap().items;
    let names: Vec<_> = lanes.iter().map(|lane| lane.lane_id.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!(lanes[1].depth[&PublicState::Waiting], 2);
    assert_eq!(lanes[1].depth[&PublicState::Cancelled], 1);
    assert_eq!(lanes[1].oldest_eligible, Some(scene.view(oldest).await.created_at));
}

pub(crate) async fn lanes_are_listed_in_pages(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    for name in ["a", "b", "c"] {
        scene.submit(in_lane(name)).await;
    }
    let page = |page| ListOf {
        namespace: Namespace::default_namespace(),
        page,
    };
    let one = scene.fabric.list_lanes(page(first(2))).await.unwrap();
    assert_eq!(one.items.len(), 2);
    let rest = PageRequest {
        cursor: one.next,
        limit: None,
    };
    let two = scene.fabric.list_lanes(page(rest)).await.unwrap();
    assert_eq!(two.items[0].lane_id, lane("c"));
    assert_eq!((two.items.len(), two.next), (1, None));
}

pub(crate) async fn a_lane_is_shown_with_its_queues_and_who_fits(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let budget = scene.budget().await;
    let gpu = || requiring(&["gpu"]);
    let oldest = scene.submit(gpu()).await;
    scene.after(SECOND).await;
    for command in [gpu(), gpu(), under(budget), in_lane("elsewhere")] {
        scene.submit(command).await;
    }
    scene.register("plain").await;
    for worker in ["able", "drained"] {
        let able = RegisterWorker {
            capabilities: CapabilitySet::parse(["gpu", "fast"]).unwrap(),
            ..registration(worker)
        };
        scene.fabric.register_worker(able).await.unwrap();
    }
    let drain = DrainWorker {
        namespace: Namespace::default_namespace(),
        instance: instance("drained"),
        reason: "enough".to_owned(),
    };
    scene.fabric.drain_worker(drain).await.unwrap();
    let shown = scene.fabric.get_lane(one("default")).await.unwrap();
    assert_eq!(shown.lane.depth[&PublicState::Waiting], 4);
    let oldest_at = scene.view(oldest).await.created_at;
    assert_eq!(
        (shown.lane.state, shown.lane.oldest_eligible),
        (LaneState::Active, Some(oldest_at))
    );
    assert_eq!((shown.workers, shown.more_queues, shown.queues.len()), (2, 0, 2));
    let [of_gpu, of_budget] = &shown.queues[..] else {
        panic!("{:?}", shown.queues);
    };
    let many = |n| HowMany { n, at_least: false };
    assert_eq!((of_gpu.length, of_gpu.best_at), (many(3), Some(oldest_at)));
    assert_eq!(of_gpu.requires, CapabilitySet::parse(["gpu"]).unwrap());
    assert_eq!((&of_gpu.fits[..], of_gpu.fitting), (&[instance("able")][..], 1));
    assert_eq!((of_budget.length, of_budget.fitting), (many(1), 2));
    assert_eq!(of_budget.budgets, [budget].into());
    assert!(of_budget.requires.is_empty() && of_budget.quota.is_none());
}

pub(crate) async fn a_lane_nobody_used_is_empty(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    scene.submit_plain().await;
    let shown = scene.fabric.get_lane(one("unused")).await.unwrap();
    assert!(shown.queues.is_empty() && shown.lane.depth.is_empty());
    scene.set_lane("unused", LaneState::Paused).await;
    let shown = scene.fabric.get_lane(one("unused")).await.unwrap();
    assert_eq!(shown.lane.state, LaneState::Paused);
}

fn one(name: &str) -> GetLane {
    GetLane {
        namespace: Namespace::default_namespace(),
        lane_id: lane(name),
    }
}
