//! Who may: roles, namespaces, and what a lease allows beyond the role of its holder.

use ff_core::caller::{Caller, Role};
use ff_core::command::claim::Task;
use ff_core::command::flow::SetEdgeGroupPolicy;
use ff_core::command::lease::Holder;
use ff_core::command::operator::CancelExecution;
use ff_core::command::stream::{ReadStream, TailStream};
use ff_core::command::submit::{CreateExecution, Created};
use ff_core::error::Code;
use ff_core::fabric::{On, Result};
use ff_core::frame::FrameBound;
use ff_core::id::{ExecutionId, FlowId};
use ff_core::record::EdgeGroupPolicy;
use ff_core::state::PublicState;

use crate::Harness;
use crate::scene::{
    Scene, WORKER, all, attempt, beside, dependency, elsewhere, holding, into_flow, list, other_namespace, refused,
    submission,
};

pub(crate) async fn a_role_that_is_not_enough_changes_nothing(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let id = scene.submit_plain().await;
    let reader = Scene::by(harness, of_role(Role::Reader)).await;
    assert_eq!(reader.state(id).await, PublicState::Waiting);
    assert_eq!(refused(reader.cancel(id).await), Code::Forbidden);
    assert_eq!(
        refused(reader.fabric.create_execution(submission()).await),
        Code::Forbidden
    );
    assert_eq!(refused(reader.fabric.get_input(id).await), Code::Forbidden);
    let submitter = Scene::by(harness, of_role(Role::Submitter)).await;
    assert_eq!(refused(submitter.hold(id).await), Code::Forbidden);
    assert_eq!(
        refused(submitter.fabric.claim(crate::scene::claim(WORKER)).await),
        Code::Forbidden
    );
    assert_eq!(scene.state(id).await, PublicState::Waiting);
    submitter.cancel(id).await.unwrap();
}

pub(crate) async fn a_caller_bound_to_a_namespace_is_kept_to_it(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (here, there) = (scene.submit_plain().await, scene.submit(elsewhere()).await);
    let bound = Scene::by(harness, of_other_namespace(Role::Admin)).await;
    assert_eq!(bound.state(there).await, PublicState::Waiting);
    assert_eq!(refused(bound.fabric.get_execution(here).await), Code::ExecutionNotFound);
    assert_eq!(
        refused(bound.fabric.create_execution(submission()).await),
        Code::Forbidden
    );
    assert_eq!(refused(bound.fabric.list_lanes(list()).await), Code::Forbidden);
}

pub(crate) async fn a_worker_that_shows_its_lease_reaches_its_execution_and_its_flow(harness: &dyn Harness) {
    let set = Set::build(harness).await;
    let worker = Scene::by(harness, holding(&set.child, Role::Worker)).await;
    for (call, answer) in calls(&worker, &set.child, set.flow, set.upstream).await {
        assert_eq!(answer, Ok(()), "{call}");
    }
}

pub(crate) async fn a_worker_without_a_lease_reaches_nothing_of_it(harness: &dyn Harness) {
    let set = Set::build(harness).await;
    let worker = Scene::by(harness, of_role(Role::Worker)).await;
    for (call, answer) in calls(&worker, &set.child, set.flow, set.upstream).await {
        assert_eq!(answer, Err(Code::Forbidden), "{call}");
    }
    assert_eq!(set.scene.state(set.child.execution_id).await, PublicState::Active);
}

pub(crate) async fn a_lease_does_not_reach_anything_else(harness: &dyn Harness) {
    let set = Set::build(harness).await;
    let solo = set.scene.held(submission()).await;
    // Nor for somebody whose role alone would do: what a lease is shown for is asked for under it.
    for role in [Role::Worker, Role::Admin] {
        let stranger = Scene::by(harness, holding(&solo, role)).await;
        for (call, answer) in calls(&stranger, &set.child, set.flow, set.upstream).await {
            assert_eq!(answer, Err(Code::Forbidden), "{call} as {role:?}");
        }
        let alone = stranger.fabric.create_execution(submission()).await;
        assert_eq!(refused(alone), Code::Forbidden, "a lease reaches its own flow only");
    }
    assert_eq!(set.scene.state(set.child.execution_id).await, PublicState::Active);
}

pub(crate) async fn a_lease_that_is_over_opens_nothing(harness: &dyn Harness) {
    let set = Set::build(harness).await;
    let worker = Scene::by(harness, holding(&set.child, Role::Worker)).await;
    set.scene.revoke(set.child.execution_id).await.unwrap();
    for (call, answer) in calls(&worker, &set.child, set.flow, set.upstream).await {
        assert_eq!(answer, Err(Code::LeaseRevoked), "{call}");
    }
    let again = set.scene.claim(WORKER).await;
    assert_eq!(again.execution_id, set.child.execution_id);
    for (call, answer) in calls(&worker, &set.child, set.flow, set.upstream).await {
        let refusal = answer.expect_err(call);
        assert!(
            matches!(refusal, Code::LeaseRevoked | Code::StaleLease),
            "{call}: {refusal}"
        );
    }
    assert_eq!(set.scene.state(set.child.execution_id).await, PublicState::Active);
}

pub(crate) async fn a_lease_is_worth_nothing_to_a_reader(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.held(submission()).await;
    let reader = Scene::by(harness, holding(&task, Role::Reader)).await;
    assert_eq!(
        refused(reader.fabric.get_input(task.execution_id).await),
        Code::Forbidden
    );
}

pub(crate) async fn a_lease_of_another_namespace_is_an_unknown_one(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.held(submission()).await;
    let id = task.execution_id;
    let foreign = Scene::by(
        harness,
        Caller {
            namespace: Some(other_namespace()),
            ..holding(&task, Role::Worker)
        },
    )
    .await;
    assert_eq!(refused(foreign.fabric.get_input(id).await), Code::ExecutionNotFound);
    assert_eq!(refused(foreign.cancel(id).await), Code::ExecutionNotFound);
    assert_eq!(scene.state(id).await, PublicState::Active);
}

pub(crate) async fn a_worker_spawns_and_cancels_with_the_fence_in_its_command(harness: &dyn Harness) {
    let set = Set::build(harness).await;
    let worker = Scene::by(harness, of_role(Role::Worker)).await;
    let Task {
        execution_id, fence, ..
    } = set.child;
    let spawn = CreateExecution {
        parent_fence: Some(Holder { execution_id, fence }),
        ..into_flow(set.flow, &[])
    };
    worker.submit(spawn.clone()).await;
    let mut elsewhere = spawn.clone();
    elsewhere.flow_id = Some(set.scene.empty_flow().await);
    assert_eq!(
        refused(worker.fabric.create_execution(elsewhere).await),
        Code::Forbidden
    );
    let cancel = |fence| CancelExecution {
        reason: "no use".to_owned(),
        fence: Some(fence),
    };
    let mut guessed = fence;
    guessed.lease_epoch += 1;
    let answer = worker
        .fabric
        .cancel_execution(On::new(execution_id, cancel(guessed)))
        .await;
    assert_eq!(refused(answer), Code::StaleLease);
    let two = Scene::by(harness, holding(&set.child, Role::Worker)).await;
    let answer = two
        .fabric
        .cancel_execution(On::new(execution_id, cancel(guessed)))
        .await;
    assert_eq!(refused(answer), Code::InvalidInput);
    worker
        .fabric
        .cancel_execution(On::new(execution_id, cancel(fence)))
        .await
        .unwrap();
    assert_eq!(set.scene.state(execution_id).await, PublicState::Cancelled);
}

pub(crate) async fn a_repeated_cancellation_of_a_holder_is_answered_again(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let task = scene.held(submission()).await;
    let worker = Scene::by(harness, holding(&task, Role::Worker)).await;
    for _ in 0..2 {
        worker.cancel(task.execution_id).await.unwrap();
    }
    assert_eq!(scene.state(task.execution_id).await, PublicState::Cancelled);
    assert_eq!(
        refused(worker.fabric.get_input(task.execution_id).await),
        Code::ExecutionNotActive
    );
}

/// A flow whose first member has ended with a result and whose second one is held.
struct Set<'h> {
    scene: Scene<'h>,
    flow: FlowId,
    upstream: ExecutionId,
    child: Task,
}

impl<'h> Set<'h> {
    async fn build(harness: &'h dyn Harness) -> Self {
        let scene = Scene::new(harness);
        let graph = scene.flow(&[("first", &[]), ("then", &["first"])]).await;
        let first = scene.claim(WORKER).await;
        scene.finish(&first).await;
        let child = scene.claim_and_keep().await;
        scene.append(&child, "hello").await.unwrap();
        Self {
            scene,
            flow: graph.flow_id,
            upstream: graph.member("first"),
            child,
        }
    }
}

fn of_role(role: Role) -> Caller {
    Caller {
        role,
        ..Caller::local()
    }
}

fn of_other_namespace(role: Role) -> Caller {
    Caller {
        namespace: Some(other_namespace()),
        ..of_role(role)
    }
}

/// Every call a holder may make, and its answer; the cancellation last, because after it nothing is held.
async fn calls(
    scene: &Scene<'_>,
    task: &Task,
    flow: FlowId,
    upstream: ExecutionId,
) -> Vec<(&'static str, std::result::Result<(), Code>)> {
    let (fabric, id) = (&scene.fabric, task.execution_id);
    let range = ReadStream {
        from: FrameBound::Start,
        to: FrameBound::End,
        limit: None,
    };
    let tail = TailStream {
        after: None,
        wait: Default::default(),
        limit: None,
    };
    let one = fabric.create_execution(into_flow(flow, &[])).await;
    // What could not be added is named all the same.
    let added = match &one {
        Ok(Created::Created { execution_id } | Created::Duplicate { execution_id, .. }) => *execution_id,
        Err(_) => beside(id),
    };
    let policy = SetEdgeGroupPolicy {
        execution_id: added,
        policy: EdgeGroupPolicy::AllOf,
    };
    vec![
        ("create_execution", code(one)),
        (
            "set_edge_group_policy",
            code(fabric.set_edge_group_policy(On::new(flow, policy)).await),
        ),
        (
            "stage_dependency_edge",
            code(fabric.stage_dependency_edge(On::new(flow, dependency(id, added))).await),
        ),
        ("get_input", code(fabric.get_input(id).await)),
        ("list_signals", code(fabric.list_signals(On::new(id, all())).await)),
        (
            "read_stream",
            code(fabric.read_stream(On::new(attempt(task), range)).await),
        ),
        (
            "tail_stream",
            code(fabric.tail_stream(On::new(attempt(task), tail)).await),
        ),
        ("read_summary", code(fabric.read_summary(attempt(task)).await)),
        ("get_result", code(scene.result(upstream).await)),
        ("cancel_execution", code(scene.cancel(id).await)),
    ]
}

fn code<T>(answer: Result<T>) -> std::result::Result<(), Code> {
    answer.map(drop).map_err(|refusal| refusal.code)
}
