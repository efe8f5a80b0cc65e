//! Getting work: order, capabilities, waiting, first leases.

use std::collections::BTreeSet;
use std::sync::Arc;

use ff_core::capability::CapabilitySet;
use ff_core::command::claim::{Claim, LaneOrder, Task};
use ff_core::command::lease::Renew;
use ff_core::command::submit::CreateExecution;
use ff_core::error::Code;
use ff_core::fabric::{On, Result};
use ff_core::payload::Payload;
use ff_core::record::AttemptKind;
use ff_core::state::PublicState;
use ff_core::time::Duration;
use serde_json::json;
use tokio::task::JoinHandle;

use crate::Harness;
use crate::scene::{
    HOUR, SECOND, Scene, WORKER, at_once, claim, elsewhere, in_lane, lane, other_namespace, promptly, refused,
    requiring, submission, with_policy,
};

pub(crate) async fn work_goes_to_one_worker_only(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let id = scene.submit_plain().await;
    assert_eq!(scene.claim("first").await.execution_id, id);
    assert!(scene.try_claim("second").await.is_none());
}

pub(crate) async fn workers_at_once_share_the_work(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    scene.fabric.create_executions(vec![submission(); 40]).await.unwrap();
    let workers = (0..4).map(|n| {
        let fabric = Arc::clone(&scene.fabric);
        async move {
            let mut ids = Vec::new();
            while let Some(task) = fabric.claim(claim(&format!("worker-{n}"))).await.unwrap().pop() {
                ids.push(task.execution_id);
            }
            ids
        }
    });
    let ids = at_once(workers).await.concat();
    assert_eq!(ids.len(), 40);
    assert_eq!(BTreeSet::from_iter(ids).len(), 40, "nothing is handed out twice");
}

pub(crate) async fn higher_priority_runs_first_then_older(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let ids = scene.submit_in_turn(3).await;
    let urgent = CreateExecution {
        priority: 9,
        ..submission()
    };
    let high = scene.submit(urgent).await;
    for expected in [high, ids[0], ids[1], ids[2]] {
        assert_eq!(scene.claim(WORKER).await.execution_id, expected);
    }
}

pub(crate) async fn a_claim_takes_at_most_what_it_asks_for(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    scene.fabric.create_executions(vec![submission(); 5]).await.unwrap();
    let mut ask = claim(WORKER);
    ask.want.max = 3;
    assert_eq!(scene.fabric.claim(ask.clone()).await.unwrap().len(), 3);
    assert_eq!(scene.fabric.claim(ask).await.unwrap().len(), 2);
}

pub(crate) async fn lanes_are_tried_in_the_order_given(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let slow = scene.submit(in_lane("slow")).await;
    let fast = scene.submit(in_lane("fast")).await;
    let mut ask = claim(WORKER);
    ask.want.lanes = vec![lane("fast"), lane("slow")];
    for expected in [fast, slow] {
        assert_eq!(scene.fabric.claim(ask.clone()).await.unwrap()[0].execution_id, expected);
    }
}

pub(crate) async fn round_robin_gives_every_lane_its_turn(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    for name in ["a", "b"] {
        scene.fabric.create_executions(vec![in_lane(name); 6]).await.unwrap();
    }
    let mut ask = claim(WORKER);
    ask.want.lanes = vec![lane("a"), lane("b")];
    ask.want.lane_order = LaneOrder::RoundRobin;
    let mut lanes = BTreeSet::new();
    for _ in 0..6 {
        lanes.insert(scene.fabric.claim(ask.clone()).await.unwrap()[0].lane.clone());
    }
    assert_eq!(lanes.len(), 2, "in strict order all of them would come from the first");
}

pub(crate) async fn work_never_crosses_namespaces(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let id = scene.submit(elsewhere()).await;
    assert!(scene.try_claim(WORKER).await.is_none());
    let there = Claim {
        namespace: other_namespace(),
        ..claim(WORKER)
    };
    assert_eq!(scene.fabric.claim(there).await.unwrap()[0].execution_id, id);
}

pub(crate) async fn a_worker_gets_only_what_it_can_do(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let id = scene.submit(requiring(&["gpu", "größe"])).await;
    for offered in [&[][..], &["gpu"], &["gpu", "ssd"]] {
        assert!(claim_with(&scene, offered).await.is_none());
    }
    let task = claim_with(&scene, &["gpu", "größe", "ssd"]).await.unwrap();
    assert_eq!(task.execution_id, id);
}

async fn claim_with(scene: &Scene<'_>, offered: &[&str]) -> Option<Task> {
    let mut ask = claim("able");
    ask.want.capabilities = CapabilitySet::parse(offered).unwrap();
    scene.fabric.claim(ask).await.unwrap().pop()
}

pub(crate) async fn a_task_says_all_a_worker_needs(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let deadline = scene.now().await + HOUR;
    let command = CreateExecution {
        tags: [("team".to_owned(), "red".to_owned())].into(),
        execution_deadline_at: Some(deadline),
        ..submission()
    };
    let task = scene.running(command).await;
    assert_eq!((task.execution_kind.as_str(), task.lane.as_str()), ("job", "default"));
    assert_eq!(task.input, Payload::json(&json!({ "n": 1 })));
    assert_eq!(task.tags["team"], "red");
    assert_eq!((task.attempt_index, task.attempt_kind), (0, AttemptKind::Initial));
    assert_eq!((task.deadline_at, task.flow_id), (Some(deadline), None));
    assert!(task.tier.is_none() && task.resumed.is_none() && task.inputs.is_empty());
}

pub(crate) async fn a_parked_claim_gets_what_is_submitted(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let parked = park(&scene, "patient");
    let id = scene.submit_plain().await;
    let tasks = promptly(parked).await.unwrap().unwrap();
    assert_eq!(tasks[0].execution_id, id);
}

pub(crate) async fn a_parked_claim_gets_what_becomes_eligible(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let id = scene.submit_plain().await;
    scene.hold(id).await.unwrap();
    let parked = park(&scene, "patient");
    scene.fabric.unhold(id).await.unwrap();
    let tasks = promptly(parked).await.unwrap().unwrap();
    assert_eq!(tasks[0].execution_id, id);
}

pub(crate) async fn parked_claims_share_what_is_submitted(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let parked = [park(&scene, "one"), park(&scene, "two")];
    scene.submit_plain().await;
    scene.submit_plain().await;
    let mut ids = BTreeSet::new();
    for claim in parked {
        let tasks = promptly(claim).await.unwrap().unwrap();
        ids.extend(tasks.iter().map(|task| task.execution_id));
    }
    assert_eq!(ids.len(), 2);
}

fn park(scene: &Scene<'_>, worker: &str) -> JoinHandle<Result<Vec<Task>>> {
    let fabric = Arc::clone(&scene.fabric);
    let patient = Claim {
        wait: Duration::from_secs(30),
        ..claim(worker)
    };
    tokio::spawn(async move { fabric.claim(patient).await })
}

pub(crate) async fn a_claim_names_a_lane_and_a_sensible_lease(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    scene.submit_plain().await;
    let mut nowhere = claim(WORKER);
    nowhere.want.lanes.clear();
    assert_eq!(refused(scene.fabric.claim(nowhere).await), Code::InvalidInput);
    for ttl in [Duration::from_millis(999), Duration::from_hours(25)] {
        let mut odd = claim(WORKER);
        odd.want.lease_ttl = Some(ttl);
        assert_eq!(refused(scene.fabric.claim(odd).await), Code::InvalidInput);
    }
    assert!(scene.try_claim(WORKER).await.is_some(), "nothing was taken");
}

pub(crate) async fn a_first_lease_is_short_until_it_is_renewed(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.running(submission()).await;
    assert!(task.expires_at <= task.now + Duration::from_secs(10));
    assert_eq!(
        scene.view(task.execution_id).await.lease_expires_at,
        Some(task.expires_at)
    );
    let renew = Renew {
        fence: Some(task.fence),
        ttl: None,
        doing: Vec::new(),
    };
    let renewed = scene.fabric.renew(On::new(task.execution_id, renew)).await.unwrap();
    assert!(renewed.expires_at >= task.expires_at + Duration::from_secs(20));
}

pub(crate) async fn a_lease_nobody_used_goes_back_as_if_released(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let lost = scene.running(submission()).await;
    scene.after(Duration::from_secs(10)).await;
    let again = scene.claim("other").await;
    assert_eq!(again.fence.attempt_id, lost.fence.attempt_id);
    let view = scene.view(lost.execution_id).await;
    assert_eq!((view.counts.reclaims, view.attempt_count), (0, 1));
}

pub(crate) async fn a_lease_nobody_used_does_not_time_out_its_attempt(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let policy = json!({ "timeout_policy": { "attempt_timeout_ms": 5_000 } });
    let lost = scene.running(with_policy(&policy)).await;
    scene.after(Duration::from_secs(6)).await;
    assert_eq!(scene.state(lost.execution_id).await, PublicState::Active);
    scene.after(Duration::from_secs(4)).await;
    let again = scene.claim("other").await;
    assert_eq!(again.fence.attempt_id, lost.fence.attempt_id);
}

pub(crate) async fn a_lease_nobody_used_takes_no_time_of_its_attempt(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let policy = json!({ "timeout_policy": { "attempt_timeout_ms": 15_000 } });
    let lost = scene.running(with_policy(&policy)).await;
    scene.after(Duration::from_secs(10)).await;
    scene.claim_and_keep().await;
    scene.after(Duration::from_secs(14)).await;
    assert_eq!(scene.state(lost.execution_id).await, PublicState::Active);
    scene.after(SECOND).await;
    assert_eq!(scene.state(lost.execution_id).await, PublicState::Failed);
}

pub(crate) async fn the_fourth_lease_in_a_row_nobody_used_is_a_reclaim(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let id = scene.submit_plain().await;
    for _ in 0..4 {
        assert_eq!(scene.claim(WORKER).await.attempt_index, 0);
        scene.after(Duration::from_secs(10)).await;
    }
    assert_eq!(scene.view(id).await.counts.reclaims, 1);
    assert_eq!(scene.claim(WORKER).await.attempt_kind, AttemptKind::Reclaim);
}
