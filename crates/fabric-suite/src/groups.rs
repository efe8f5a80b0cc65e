//! How the inbound edges of a member join.

use ff_core::command::flow::SetEdgeGroupPolicy;
use ff_core::command::operator::Changed;
use ff_core::error::Code;
use ff_core::fabric::{On, Result};
use ff_core::id::{ExecutionId, FlowId};
use ff_core::machine::group::Counts;
use ff_core::record::{EdgeGroupPolicy, OnSatisfied};
use ff_core::state::PublicState;

use crate::Harness;
use crate::scene::{Graph, Scene, WORKER, all, graph, refused, waiting};

pub(crate) async fn a_group_policy_is_fixed_by_the_first_edge(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let flow = scene.empty_flow().await;
    let (parent, child) = (scene.join(flow, &[]).await, scene.join(flow, &[]).await);
    assert_eq!(set(&scene, (flow, child), ANY).await.unwrap(), Changed::Now);
    assert_eq!(set(&scene, (flow, child), ANY).await.unwrap(), Changed::Already);
    scene.depend(flow, parent, child).await.unwrap();
    let answer = set(&scene, (flow, child), EdgeGroupPolicy::AllOf).await;
    assert_eq!(refused(answer), Code::GroupPolicyFixed);
    assert_eq!(set(&scene, (flow, child), ANY).await.unwrap(), Changed::Already);
}

pub(crate) async fn a_group_belongs_to_a_member_and_a_quorum_to_somebody(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (solo, flow) = (scene.submit_plain().await, scene.empty_flow().await);
    assert_eq!(refused(set(&scene, (flow, solo), ANY).await), Code::ExecutionNotInFlow);
    let member = scene.join(flow, &[]).await;
    let other = scene.empty_flow().await;
    assert_eq!(
        refused(set(&scene, (other, member), ANY).await),
        Code::ExecutionNotInFlow
    );
    assert_eq!(
        refused(set(&scene, (flow, member), quorum(0)).await),
        Code::InvalidInput
    );
}

pub(crate) async fn all_of_waits_for_every_upstream(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let graph = fan_in(&scene, 3, EdgeGroupPolicy::AllOf).await;
    for _ in 0..3 {
        assert_eq!(scene.state(graph.member("child")).await, PublicState::WaitingChildren);
        let task = scene.claim(WORKER).await;
        scene.finish(&task).await;
    }
    assert_eq!(scene.claim(WORKER).await.execution_id, graph.member("child"));
}

pub(crate) async fn all_of_is_impossible_after_the_first_failure(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let graph = fan_in(&scene, 3, EdgeGroupPolicy::AllOf).await;
    let task = scene.claim(WORKER).await;
    scene.break_down(&task).await;
    assert_eq!(scene.state(graph.member("child")).await, PublicState::Skipped);
    assert!(scene.try_claim(WORKER).await.is_some(), "the others go on");
}

pub(crate) async fn any_of_goes_on_with_the_first_success(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let graph = fan_in(&scene, 3, ANY).await;
    let failed = scene.claim(WORKER).await;
    scene.break_down(&failed).await;
    assert_eq!(scene.state(graph.member("child")).await, PublicState::WaitingChildren);
    let winner = scene.claim(WORKER).await;
    scene.finish(&winner).await;
    assert_eq!(scene.state(graph.member("child")).await, PublicState::Waiting);
    let loser = scene.claim(WORKER).await;
    assert_ne!(loser.execution_id, graph.member("child"), "the others run on");
}

pub(crate) async fn any_of_is_impossible_when_all_have_failed(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let graph = fan_in(&scene, 2, ANY).await;
    for state in [PublicState::WaitingChildren, PublicState::Skipped] {
        let task = scene.claim(WORKER).await;
        scene.break_down(&task).await;
        assert_eq!(scene.state(graph.member("child")).await, state);
    }
}

pub(crate) async fn a_quorum_goes_on_with_enough_successes(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let graph = fan_in(&scene, 3, quorum(2)).await;
    for state in [PublicState::WaitingChildren, PublicState::Waiting] {
        let task = scene.claim(WORKER).await;
        scene.finish(&task).await;
        assert_eq!(scene.state(graph.member("child")).await, state);
    }
}

pub(crate) async fn a_quorum_is_impossible_after_too_many_failures(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let graph = fan_in(&scene, 3, quorum(2)).await;
    for state in [PublicState::WaitingChildren, PublicState::Skipped] {
        let task = scene.claim(WORKER).await;
        scene.break_down(&task).await;
        assert_eq!(scene.state(graph.member("child")).await, state);
    }
}

pub(crate) async fn who_feeds_another_open_child_is_not_cancelled(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let members: &[(&str, &[&str])] = &[("a", &[]), ("b", &[]), ("first", &["a", "b"]), ("second", &["b"])];
    let policy = |key: &str| (key == "first").then_some(CANCELLING);
    let mut graph = graph(members);
    graph.members[0].submission.priority = 9;
    for member in &mut graph.members {
        member.submission.edge_group_policy = policy(&member.key);
    }
    let graph = scene.build(graph).await;
    let a = scene.claim(WORKER).await;
    assert_eq!(a.execution_id, graph.member("a"));
    scene.finish(&a).await;
    assert_eq!(scene.state(graph.member("first")).await, PublicState::Waiting);
    assert_eq!(
        scene.state(graph.member("b")).await,
        PublicState::Waiting,
        "the second child needs it"
    );
}

pub(crate) async fn who_feeds_only_decided_groups_is_cancelled(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let members: &[(&str, &[&str])] = &[
        ("shared", &[]),
        ("one", &[]),
        ("two", &[]),
        ("first", &["shared", "one"]),
        ("second", &["shared", "two"]),
    ];
    let mut graph = graph(members);
    for (member, priority) in graph.members.iter_mut().zip([9, 8, 7, 0, 0]) {
        member.submission.priority = priority;
        member.submission.edge_group_policy = (priority == 0).then_some(CANCELLING);
    }
    let graph = scene.build(graph).await;
    let shared = scene.claim(WORKER).await;
    assert_eq!(shared.execution_id, graph.member("shared"));
    scene.suspended(&shared, waiting(&shared)).await;
    let one = scene.claim(WORKER).await;
    scene.finish(&one).await;
    assert_eq!(
        scene.state(shared.execution_id).await,
        PublicState::Suspended,
        "the second child waits for its group"
    );
    let two = scene.claim(WORKER).await;
    scene.finish(&two).await;
    assert_eq!(scene.state(graph.member("first")).await, PublicState::Waiting);
    assert_eq!(scene.state(shared.execution_id).await, PublicState::Cancelled);
}

pub(crate) async fn who_feeds_a_running_child_that_has_yet_to_wait_is_not_cancelled(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let members: &[(&str, &[&str])] = &[("parent", &[]), ("a", &[]), ("b", &[]), ("any", &["a", "b"])];
    let mut graph = graph(members);
    for (member, priority) in graph.members.iter_mut().zip([9, 8, 7, 0]) {
        member.submission.priority = priority;
        member.submission.edge_group_policy = (priority == 0).then_some(CANCELLING);
    }
    let graph = scene.build(graph).await;
    let parent = scene.claim_and_keep().await;
    assert_eq!(parent.execution_id, graph.member("parent"));
    scene
        .depend(graph.flow_id, graph.member("b"), parent.execution_id)
        .await
        .unwrap();
    let a = scene.claim(WORKER).await;
    scene.finish(&a).await;
    assert_eq!(scene.state(graph.member("any")).await, PublicState::Waiting);
    assert_eq!(scene.state(graph.member("b")).await, PublicState::Waiting);
}

pub(crate) async fn who_runs_for_a_decided_group_is_cancelled_too(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    fan_in(&scene, 2, CANCELLING).await;
    let (winner, loser) = (scene.claim("one").await, scene.claim("two").await);
    scene.finish(&winner).await;
    assert_eq!(scene.state(loser.execution_id).await, PublicState::Cancelled);
    assert_eq!(refused(scene.complete(&loser).await), Code::ExecutionNotActive);
}

pub(crate) async fn an_impossible_group_cancels_who_it_no_longer_needs(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let both = EdgeGroupPolicy::Quorum {
        k: 2,
        on_satisfied: OnSatisfied::CancelRemaining,
    };
    let graph = fan_in(&scene, 2, both).await;
    let task = scene.claim(WORKER).await;
    scene.break_down(&task).await;
    assert_eq!(scene.state(graph.member("child")).await, PublicState::Skipped);
    assert!(scene.try_claim(WORKER).await.is_none());
    let flow = scene.fabric.get_flow(graph.flow_id).await.unwrap();
    assert_eq!(flow.counts.of(PublicState::Cancelled), 1);
}

pub(crate) async fn groups_are_listed_with_their_counts(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let graph = fan_in(&scene, 3, quorum(2)).await;
    let done = scene.claim(WORKER).await;
    scene.finish(&done).await;
    let broken = scene.claim(WORKER).await;
    scene.break_down(&broken).await;
    let groups = scene
        .fabric
        .list_groups(On::new(graph.flow_id, all()))
        .await
        .unwrap()
        .items;
    assert_eq!(groups.len(), 1, "only members with inbound edges have one");
    let group = &groups[0];
    assert_eq!((group.execution_id, group.policy), (graph.member("child"), quorum(2)));
    assert!(group.fixed && group.waiting);
    let expected = Counts {
        applied: 3,
        unresolved: 1,
        satisfied: 1,
        failed: 1,
    };
    assert_eq!(group.counts, expected);
}

const ANY: EdgeGroupPolicy = EdgeGroupPolicy::AnyOf {
    on_satisfied: OnSatisfied::LetRun,
};
const CANCELLING: EdgeGroupPolicy = EdgeGroupPolicy::AnyOf {
    on_satisfied: OnSatisfied::CancelRemaining,
};

const fn quorum(k: u32) -> EdgeGroupPolicy {
    EdgeGroupPolicy::Quorum {
        k,
        on_satisfied: OnSatisfied::LetRun,
    }
}

/// A flow of some members and one that waits for them; it comes last in their queue.
async fn fan_in(scene: &Scene<'_>, upstreams: usize, policy: EdgeGroupPolicy) -> Graph {
    let names: Vec<String> = (0..upstreams).map(|n| format!("up{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut members: Vec<(&str, &[&str])> = names.iter().map(|name| (*name, &[][..])).collect();
    members.push(("child", &names));
    let mut graph = graph(&members);
    for member in &mut graph.members {
        member.submission.priority = 1;
    }
    if let Some(child) = graph.members.last_mut() {
        child.submission.priority = 0;
        child.submission.edge_group_policy = Some(policy);
    }
    scene.build(graph).await
}

async fn set(
    scene: &Scene<'_>,
    (flow, execution_id): (FlowId, ExecutionId),
    policy: EdgeGroupPolicy,
) -> Result<Changed> {
    let command = SetEdgeGroupPolicy { execution_id, policy };
    scene.fabric.set_edge_group_policy(On::new(flow, command)).await
}
