//! Executions that a handler starts, and waits for.

use ff_core::command::claim::Task;
use ff_core::command::flow::{ReplayExecution, WaitChildren, WaitedChildren};
use ff_core::command::spawn::{Child, SpawnChildren, SpawnedChildren};
use ff_core::command::steps::{KeepSteps, StepStatus};
use ff_core::error::Code;
use ff_core::fabric::{On, Result};
use ff_core::id::ExecutionId;
use ff_core::limits::{SPAWN_BYTES_MAX, SPAWN_CHILDREN_MAX};
use ff_core::name::{ExecutionKind, FlowKind, LaneId};
use ff_core::payload::Payload;
use ff_core::policy::Policy;
use ff_core::record::{CancelFlowPolicy, StepKind, Tags};
use ff_core::state::PublicState;
use ff_core::view::ListFlows;
use serde_json::json;

use crate::Harness;
use crate::scene::{SECOND, Scene, WORKER, brought, done, first, named, refused, step_key, submission, with_policy};

fn child(step: &str) -> Child {
    Child {
        step: step_key(step),
        lane_id: LaneId::default_lane(),
        execution_kind: ExecutionKind::parse("job").unwrap(),
        input: Payload::json(&json!(step)),
        priority: 9,
        creator_identity: None,
        tags: Tags::new(),
        policy: Policy::default(),
        delay_until: None,
        execution_deadline_at: None,
    }
}

async fn spawn_with(scene: &Scene<'_>, task: &Task, children: Vec<Child>) -> Result<SpawnedChildren> {
    let command = SpawnChildren {
        fence: Some(task.fence),
        children,
    };
    scene.fabric.spawn_children(On::new(task.execution_id, command)).await
}

async fn spawn(scene: &Scene<'_>, task: &Task, steps: &[&str]) -> Vec<ExecutionId> {
    let children = steps.iter().map(|step| child(step)).collect();
    let spawned = spawn_with(scene, task, children).await.unwrap();
    spawned.children.iter().map(|child| child.execution_id).collect()
}

async fn wait(scene: &Scene<'_>, task: &Task) -> WaitedChildren {
    let command = WaitChildren {
        fence: Some(task.fence),
        steps: Vec::new(),
    };
    let waited = scene.fabric.wait_children(On::new(task.execution_id, command)).await;
    scene.settle().await;
    waited.unwrap()
}

pub(crate) async fn a_parent_goes_on_with_what_its_children_left(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let parent = scene.running(submission()).await;
    scene.recorded(&parent, vec![done("before", "1")]).await;
    let children = spawn(&scene, &parent, &["a#0", "a#1"]).await;
    assert_eq!(wait(&scene, &parent).await, WaitedChildren::Waiting);
    let (one, other) = (scene.claim(WORKER).await, scene.claim(WORKER).await);
    assert_eq!(one.input, Payload::json(&json!("a#0")));
    assert_eq!([one.execution_id, other.execution_id], [children[0], children[1]]);
    scene.finish(&one).await;
    assert!(
        scene.try_claim(WORKER).await.is_none(),
        "not before all of them have ended"
    );
    scene.fail(&other, "permanent").await.unwrap();
    scene.settle().await;
    let next = scene.claim(WORKER).await;
    assert_eq!(next.execution_id, parent.execution_id);
    assert_eq!(named(brought(&next)), [("before", 0), ("a#0", 1), ("a#1", 2)]);
    let views: Vec<_> = brought(&next)[1..]
        .iter()
        .map(|step| step.child.clone().unwrap())
        .collect();
    assert!(brought(&next)[1..].iter().all(|step| step.kind == StepKind::Spawn));
    assert_eq!(
        (views[0].public_state, &views[0].result),
        (Some(PublicState::Completed), &scene.result(children[0]).await.ok())
    );
    assert_eq!(
        (views[1].public_state, &views[1].result),
        (Some(PublicState::Failed), &None)
    );
    assert!(views[1].failure.is_some());
    assert_eq!(wait(&scene, &next).await, WaitedChildren::AlreadySatisfied);
    scene.complete(&next).await.unwrap();
}

pub(crate) async fn the_same_step_again_is_the_same_child(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let parent = scene.running(submission()).await;
    let first = spawn_with(&scene, &parent, vec![child("a"), child("b")]).await.unwrap();
    let again = spawn_with(&scene, &parent, vec![child("b"), child("c")]).await.unwrap();
    assert_eq!(again.flow_id, first.flow_id);
    assert_eq!(again.children[0].execution_id, first.children[1].execution_id);
    let statuses: Vec<_> = again.children.iter().map(|child| (child.seq, child.status)).collect();
    assert_eq!(statuses, [(1, StepStatus::Already), (2, StepStatus::Recorded)]);
    let view = scene.fabric.get_flow(first.flow_id).await.unwrap();
    assert_eq!(
        (view.counts.members, view.graph_revision),
        (4, 3),
        "the parent and three children"
    );
    assert_eq!(scene.view(parent.execution_id).await.flow_id, Some(first.flow_id));
    scene.recorded(&parent, vec![done("d", "1")]).await;
    let refusal = spawn_with(&scene, &parent, vec![child("e"), child("d")]).await;
    assert_eq!(refused(refusal), Code::StepConflict);
    assert_eq!(
        scene.fabric.get_flow(first.flow_id).await.unwrap().counts.members,
        4,
        "all or none"
    );
}

pub(crate) async fn flows_that_nobody_asked_for_are_not_listed_unless_asked_for(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let parent = scene.running(submission()).await;
    let spawned = spawn_with(&scene, &parent, vec![child("a")]).await.unwrap();
    let list = |kind| ListFlows {
        kind,
        page: first(1_000),
        ..ListFlows::default()
    };
    let listed = async |kind| {
        let page = scene.fabric.list_flows(list(kind)).await.unwrap();
        page.items.iter().any(|flow| flow.flow_id == spawned.flow_id)
    };
    assert!(!listed(None).await);
    assert!(listed(Some(FlowKind::spawned())).await);
}

pub(crate) async fn a_member_spawns_into_its_own_flow(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let graph = scene.flow(&[("parent", &[])]).await;
    let parent = scene.claim(WORKER).await;
    let spawned = spawn_with(&scene, &parent, vec![child("a")]).await.unwrap();
    assert_eq!(spawned.flow_id, graph.flow_id);
    scene.cancel_flow(graph.flow_id, CancelFlowPolicy::FlowOnly).await.ok();
    let refusal = spawn_with(&scene, &parent, vec![child("b")]).await;
    assert_eq!(refused(refusal), Code::FlowAlreadyTerminal);
}

pub(crate) async fn children_do_not_outlive_the_failure_of_their_parent(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    for fails in [true, false] {
        let parent = scene.running(submission()).await;
        let children = spawn(&scene, &parent, &["ended", "open", "delayed"]).await;
        let ended = scene.claim(WORKER).await;
        assert_eq!(ended.execution_id, children[0]);
        scene.finish(&ended).await;
        match fails {
            true => scene.cancel(parent.execution_id).await.map(|_| ()).unwrap(),
            false => scene.complete(&parent).await.map(|_| ()).unwrap(),
        }
        scene.settle().await;
        assert_eq!(scene.state(children[0]).await, PublicState::Completed);
        for open in &children[1..] {
            let state = scene.state(*open).await;
            assert_eq!(state == PublicState::Cancelled, fails, "{state:?}");
            scene.cancel(*open).await.ok();
        }
    }
}

pub(crate) async fn what_a_replayed_parent_spawns_is_not_cancelled_with_what_it_spawned_before(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let parent = scene.running(submission()).await;
    let before = spawn(&scene, &parent, &["a"]).await;
    scene.cancel(parent.execution_id).await.unwrap();
    let replay = On::new(parent.execution_id, ReplayExecution::default());
    scene.fabric.replay_execution(replay).await.unwrap();
    let soon = scene
        .try_claim(WORKER)
        .await
        .filter(|task| task.execution_id == parent.execution_id);
    let again = match soon {
        Some(task) => task,
        None => {
            scene.settle().await;
            scene.claim(WORKER).await
        }
    };
    assert_eq!(again.execution_id, parent.execution_id);
    let anew = spawn(&scene, &again, &["a"]).await;
    scene.settle().await;
    assert_eq!(scene.state(before[0]).await, PublicState::Cancelled);
    assert_ne!(anew[0], before[0]);
    assert_eq!(scene.state(anew[0]).await, PublicState::Waiting);
}

pub(crate) async fn what_a_replay_forgot_is_spawned_anew(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let parent = scene.running(submission()).await;
    let children = spawn(&scene, &parent, &["good", "bad"]).await;
    for end in [true, false] {
        let child = scene.claim(WORKER).await;
        match end {
            true => scene.complete(&child).await.map(|_| ()).unwrap(),
            false => scene.fail(&child, "permanent").await.map(|_| ()).unwrap(),
        }
    }
    scene.settle().await;
    scene.fail(&parent, "permanent").await.unwrap();
    scene.replay(parent.execution_id).await.unwrap();
    let next = scene.claim(WORKER).await;
    assert_eq!(named(brought(&next)), [("good", 0)], "the other one failed");
    let again = spawn(&scene, &next, &["good", "bad"]).await;
    assert_eq!(again[0], children[0]);
    assert_ne!(again[1], children[1]);
    scene.cancel(parent.execution_id).await.unwrap();
    scene.settle().await;
    scene
        .replay_keeping(parent.execution_id, KeepSteps::None)
        .await
        .unwrap();
    let last = scene.claim(WORKER).await;
    let anew = spawn(&scene, &last, &["good", "bad"]).await;
    assert!(anew.iter().all(|id| !again.contains(id)));
}

pub(crate) async fn spawns_that_cannot_be_are_refused_and_nothing_is_started(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let parent = scene.held(submission()).await;
    let large = Payload::binary(vec![0; SPAWN_BYTES_MAX / 4]);
    let nowhere = json!({ "budget_ids": ["00000000-0000-0000-0000-00000000004d"] });
    let bad = [
        (vec![], Code::InvalidInput),
        (vec![child("a"), child("a")], Code::InvalidInput),
        (
            (0..=SPAWN_CHILDREN_MAX).map(|n| child(&format!("a#{n}"))).collect(),
            Code::BatchTooLarge,
        ),
        (
            (0..5)
                .map(|n| Child {
                    input: large.clone(),
                    ..child(&format!("a#{n}"))
                })
                .collect(),
            Code::PayloadTooLarge,
        ),
        (
            vec![Child {
                priority: 9_001,
                ..child("a")
            }],
            Code::InvalidInput,
        ),
        (
            vec![Child {
                policy: with_policy(&nowhere).policy,
                ..child("a")
            }],
            Code::BudgetNotFound,
        ),
    ];
    for (children, code) in bad {
        assert_eq!(refused(spawn_with(&scene, &parent, children).await), code);
    }
    let unfenced = SpawnChildren {
        fence: None,
        children: vec![child("a")],
    };
    let refusal = scene
        .fabric
        .spawn_children(On::new(parent.execution_id, unfenced))
        .await;
    assert_eq!(refused(refusal), Code::FenceRequired);
    assert_eq!(scene.view(parent.execution_id).await.flow_id, None);
    scene.revoke(parent.execution_id).await.unwrap();
    assert_eq!(
        refused(spawn_with(&scene, &parent, vec![child("a")]).await),
        Code::LeaseRevoked
    );
}

pub(crate) async fn who_needs_only_some_of_its_upstreams_spawns_nothing(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let flow = scene.empty_flow().await;
    let parent = ff_core::command::submit::CreateExecution {
        flow_id: Some(flow),
        edge_group_policy: Some(ff_core::record::EdgeGroupPolicy::AnyOf {
            on_satisfied: ff_core::record::OnSatisfied::LetRun,
        }),
        ..submission()
    };
    let parent = scene.running(parent).await;
    assert_eq!(
        refused(spawn_with(&scene, &parent, vec![child("a")]).await),
        Code::InvalidInput
    );
}

pub(crate) async fn spawned_work_goes_with_its_parent(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let parent = scene.running(with_policy(&json!({ "retention_ms": 3_600_000 }))).await;
    let children = spawn(&scene, &parent, &["a"]).await;
    let child = scene.claim(WORKER).await;
    scene.finish(&child).await;
    scene.complete(&parent).await.unwrap();
    scene.after(SECOND).await;
    assert_eq!(scene.state(children[0]).await, PublicState::Completed);
    scene.after(ff_core::time::Duration::from_hours(2)).await;
    for id in [parent.execution_id, children[0]] {
        assert_eq!(refused(scene.fabric.get_state(id).await), Code::ExecutionNotFound);
    }
}
