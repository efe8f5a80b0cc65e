//! Why an execution is not running.

use std::collections::BTreeSet;

use ff_core::capability::CapabilitySet;
use ff_core::command::submit::{CreateExecution, LaneState};
use ff_core::command::worker::RegisterWorker;
use ff_core::id::ExecutionId;
use ff_core::state::PublicState;
use ff_core::view::ListProblems;
use ff_core::view::{Explanation, Hindrance};

use crate::Harness;
use crate::scene::{HOUR, MINUTE, Scene, WORKER, instance, limited, registration, requiring, submission, under};

pub(crate) async fn what_waits_for_something_that_exists_is_no_problem(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    assert_eq!(scene.fabric.list_problems(ListProblems::default()).await.unwrap(), []);
    let budget = scene.budget().await;
    scene.spend(budget, 10).await.unwrap();
    scene.submit(under(budget)).await;
    assert!(scene.try_claim(WORKER).await.is_none());
    scene.held(submission()).await;
    scene.after(MINUTE).await;
    assert_eq!(scene.fabric.list_problems(ListProblems::default()).await.unwrap(), []);
}

pub(crate) async fn nothing_stands_between_eligible_work_and_a_worker(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    scene.register(WORKER).await;
    let id = scene.submit_plain().await;
    let explanation = scene.fabric.explain(id).await.unwrap();
    assert_eq!(explanation.execution_id, id);
    assert_eq!(blocking(&explanation), []);
    let named: BTreeSet<_> = explanation
        .conditions
        .iter()
        .map(|condition| condition.hindrance)
        .collect();
    for hindrance in [
        Hindrance::Hold,
        Hindrance::Delay,
        Hindrance::Lane,
        Hindrance::Capabilities,
    ] {
        assert!(named.contains(&hindrance), "{hindrance:?} is named with its value");
    }
}

pub(crate) async fn every_reason_at_once_is_named(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let budget = scene.budget().await;
    scene.spend(budget, 10).await.unwrap();
    let delayed = CreateExecution {
        delay_until: Some(scene.now().await + HOUR),
        ..under(budget)
    };
    let id = scene.submit(delayed).await;
    scene.hold(id).await.unwrap();
    scene.set_lane("default", LaneState::Paused).await;
    let named = hindrances(&scene, id).await;
    let expected = [
        Hindrance::Hold,
        Hindrance::Delay,
        Hindrance::Lane,
        Hindrance::Budget,
        Hindrance::Capabilities,
    ];
    assert_eq!(named, expected);
}

pub(crate) async fn a_lease_and_a_promise_are_explained(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    scene.register(WORKER).await;
    let task = scene.running(submission()).await;
    assert_eq!(hindrances(&scene, task.execution_id).await, [Hindrance::Ownership]);
    let promised = scene.submit_plain().await;
    scene.grant(WORKER).await.unwrap();
    assert_eq!(hindrances(&scene, promised).await, [Hindrance::Ownership]);
}

pub(crate) async fn a_suspension_is_explained(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    scene.register(WORKER).await;
    let (task, _) = scene.asleep(submission()).await;
    assert!(
        hindrances(&scene, task.execution_id)
            .await
            .contains(&Hindrance::Suspension)
    );
}

pub(crate) async fn dependencies_are_explained(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    scene.register(WORKER).await;
    let graph = scene.flow(&[("a", &[]), ("b", &["a"])]).await;
    assert_eq!(hindrances(&scene, graph.member("b")).await, [Hindrance::Dependencies]);
    assert_eq!(hindrances(&scene, graph.member("a")).await, []);
}

pub(crate) async fn the_gate_of_an_unopened_flow_is_explained(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    scene.register(WORKER).await;
    let graph = scene.flow_with(&[("a", &[])], |_| None, false).await;
    let named = hindrances(&scene, graph.member("a")).await;
    assert_eq!(named, [Hindrance::Dependencies, Hindrance::FlowGate]);
}

pub(crate) async fn a_full_quota_is_explained(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    scene.register(WORKER).await;
    let quota = scene.quota(None, Some(1)).await;
    scene.held(limited(quota)).await;
    let id = scene.submit(limited(quota)).await;
    assert!(scene.try_claim(WORKER).await.is_none());
    let explanation = scene.fabric.explain(id).await.unwrap();
    assert_eq!(blocking(&explanation), [Hindrance::Quota]);
    let told = explanation
        .conditions
        .iter()
        .find(|condition| condition.hindrance == Hindrance::Quota);
    assert!(told.unwrap().detail.contains("1/1"), "with its current value");
}

pub(crate) async fn a_closed_budget_is_explained_with_its_usage(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    scene.register(WORKER).await;
    let budget = scene.budget().await;
    scene.spend(budget, 10).await.unwrap();
    let id = scene.submit(under(budget)).await;
    let explanation = scene.fabric.explain(id).await.unwrap();
    assert_eq!(blocking(&explanation), [Hindrance::Budget]);
    let told = explanation
        .conditions
        .iter()
        .find(|condition| condition.hindrance == Hindrance::Budget);
    assert!(told.unwrap().detail.contains("10/10"));
}

pub(crate) async fn the_workers_that_come_closest_are_named(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let offering = |worker: &str, offered: &[&str]| RegisterWorker {
        capabilities: CapabilitySet::parse(offered).unwrap(),
        ..registration(worker)
    };
    scene
        .fabric
        .register_worker(offering("near", &["gpu", "eu"]))
        .await
        .unwrap();
    scene.fabric.register_worker(offering("far", &[])).await.unwrap();
    let id = scene.submit(requiring(&["gpu", "eu", "large"])).await;
    let explanation = scene.fabric.explain(id).await.unwrap();
    assert_eq!(blocking(&explanation), [Hindrance::Capabilities]);
    let nearest = &explanation.nearest_workers[0];
    assert_eq!(
        (&nearest.instance, &nearest.missing[..]),
        (&instance("near"), &["large".to_owned()][..])
    );
    assert_eq!(explanation.nearest_workers[1].missing.len(), 3);
}

pub(crate) async fn what_has_ended_needs_no_explanation(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let id = scene.submit_plain().await;
    scene.cancel(id).await.unwrap();
    let explanation = scene.fabric.explain(id).await.unwrap();
    assert_eq!(explanation.state.public_state, PublicState::Cancelled);
    assert!(explanation.conditions.is_empty() && explanation.nearest_workers.is_empty());
}

async fn hindrances(scene: &Scene<'_>, id: ExecutionId) -> Vec<Hindrance> {
    blocking(&scene.fabric.explain(id).await.unwrap())
}

/// What holds the execution back, in the order it is shown.
fn blocking(explanation: &Explanation) -> Vec<Hindrance> {
    let blocking = explanation.conditions.iter().filter(|condition| condition.blocks);
    blocking.map(|condition| condition.hindrance).collect()
}
