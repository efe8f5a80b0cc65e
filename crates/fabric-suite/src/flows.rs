//! Flows: creating, joining, reading, deleting.

use std::collections::BTreeSet;

use ff_core::command::claim::Task;
use ff_core::command::flow::{AddExecution, CreateFlow, CreateFlowWith, FlowCreated, Joined, Opened};
use ff_core::command::lease::Holder;
use ff_core::command::operator::{Changed, SetTags};
use ff_core::command::page::PageRequest;
use ff_core::command::submit::CreateExecution;
use ff_core::error::Code;
use ff_core::fabric::On;
use ff_core::id::FlowId;
use ff_core::machine::flow::FlowState;
use ff_core::name::FlowKind;
use ff_core::record::{CancelFlowPolicy, Tags};
use ff_core::state::{EligibilityState, PublicState};
use ff_core::time::Duration;
use ff_core::view::ListFlows;
use serde_json::json;

use crate::Harness;
use crate::scene::{
    HOUR, SECOND, Scene, WORKER, all, beside, first, flow_definition, fresh, in_lane, into_flow, nobody,
    other_namespace, refused, signal, submission, waiting, with_policy,
};

pub(crate) async fn a_flow_is_created_once(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let flow_id = FlowId::from_uuid(fresh());
    let create = |kind: &str| CreateFlowWith {
        flow_id: Some(flow_id),
        definition: CreateFlow {
            flow_kind: FlowKind::parse(kind).unwrap(),
            ..flow_definition()
        },
    };
    let first = scene.fabric.create_flow(create("nightly")).await.unwrap();
    assert_eq!((first.flow_id, first.created), (flow_id, FlowCreated::Created));
    let again = scene.fabric.create_flow(create("nightly")).await.unwrap();
    assert_eq!(again.created, FlowCreated::Exists);
    let other = scene.fabric.create_flow(create("daily")).await;
    assert_eq!(refused(other), Code::AlreadyExists);
}

pub(crate) async fn an_unknown_flow_is_not_found(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let (id, fabric) = (FlowId::from_uuid(fresh()), &scene.fabric);
    let member = scene.submit_plain().await;
    let answers = [
        refused(fabric.get_flow(id).await),
        refused(fabric.open_flow(id).await),
        refused(fabric.delete_flow(id).await),
        refused(fabric.get_flow_tags(id).await),
        refused(fabric.list_members(On::new(id, all())).await),
        refused(fabric.list_edges(On::new(id, all())).await),
        refused(fabric.list_groups(On::new(id, all())).await),
        refused(
            fabric
                .add_execution_to_flow(On::new(id, AddExecution { execution_id: member }))
                .await,
        ),
        refused(scene.cancel_flow(id, CancelFlowPolicy::CancelAll).await),
    ];
    assert_eq!(answers, [Code::FlowNotFound; 9]);
}

pub(crate) async fn a_flow_shows_where_its_members_are(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let graph = scene.flow(&[("a", &[]), ("b", &["a"]), ("c", &["a"])]).await;
    assert_eq!(state(&scene, graph.flow_id).await, FlowState::Running);
    let a = scene.claim(WORKER).await;
    let flow = scene.fabric.get_flow(graph.flow_id).await.unwrap();
    assert_eq!((flow.counts.members, flow.counts.open), (3, 3));
    assert_eq!(flow.counts.of(PublicState::Active), 1);
    assert_eq!(flow.counts.of(PublicState::WaitingChildren), 2);
    scene.finish(&a).await;
    let flow = scene.fabric.get_flow(graph.flow_id).await.unwrap();
    assert_eq!(
        (
            flow.counts.of(PublicState::Completed),
            flow.counts.of(PublicState::Waiting)
        ),
        (1, 2)
    );
    assert_eq!(flow.counts.open, 2);
}

pub(crate) async fn the_state_of_a_flow_follows_from_its_members(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let flow = scene.empty_flow().await;
    assert_eq!(state(&scene, flow).await, FlowState::Open);
    let task = scene.running(into_flow(flow, &[])).await;
    assert_eq!(state(&scene, flow).await, FlowState::Running);
    let waitpoint = scene.suspended(&task, waiting(&task)).await.remove(0);
    assert_eq!(state(&scene, flow).await, FlowState::Blocked);
    scene.send(task.execution_id, &waitpoint, signal("go")).await.unwrap();
    let again = scene.claim(WORKER).await;
    scene.finish(&again).await;
    assert_eq!(state(&scene, flow).await, FlowState::Completed);
    let task = scene.running(into_flow(flow, &[])).await;
    assert_eq!(
        state(&scene, flow).await,
        FlowState::Running,
        "a new member makes it run again"
    );
    scene.break_down(&task).await;
    assert_eq!(state(&scene, flow).await, FlowState::Failed);
}

async fn state(scene: &Scene<'_>, flow: FlowId) -> FlowState {
    scene.fabric.get_flow(flow).await.unwrap().state
}

pub(crate) async fn an_execution_joins_a_flow_once(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let flow = scene.empty_flow().await;
    let member = scene.join(flow, &[]).await;
    let solo = CreateExecution {
        execution_id: Some(beside(member)),
        ..submission()
    };
    let solo = scene.submit(solo).await;
    let added = scene
        .fabric
        .add_execution_to_flow(On::new(flow, AddExecution { execution_id: solo }))
        .await
        .unwrap();
    assert_eq!(added, Joined::Added { node_count: 2 });
    let again = scene
        .fabric
        .add_execution_to_flow(On::new(flow, AddExecution { execution_id: solo }))
        .await
        .unwrap();
    assert_eq!(again, Joined::AlreadyMember { node_count: 2 });
    assert_eq!(scene.view(solo).await.flow_id, Some(flow));
    let other = scene.empty_flow().await;
    let answer = scene
        .fabric
        .add_execution_to_flow(On::new(other, AddExecution { execution_id: solo }))
        .await;
    assert_eq!(refused(answer), Code::AlreadyMemberOfDifferentFlow);
}

pub(crate) async fn an_execution_of_another_partition_cannot_join(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let flow = scene.empty_flow().await;
    let member = scene.join(flow, &[]).await;
    let Some(apart) = scene.of_another_partition(member).await else {
        return;
    };
    let answer = scene
        .fabric
        .add_execution_to_flow(On::new(flow, AddExecution { execution_id: apart }))
        .await;
    assert_eq!(refused(answer), Code::PartitionMismatch);
    let named = CreateExecution {
        execution_id: Some(beside(apart)),
        ..into_flow(flow, &[])
    };
    assert_eq!(
        refused(scene.fabric.create_execution(named).await),
        Code::PartitionMismatch
    );
}

pub(crate) async fn an_unknown_execution_cannot_join(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let flow = scene.empty_flow().await;
    let answer = scene
        .fabric
        .add_execution_to_flow(On::new(flow, AddExecution { execution_id: nobody() }))
        .await;
    assert_eq!(refused(answer), Code::ExecutionNotFound);
}

pub(crate) async fn a_sealed_or_cancelled_flow_takes_no_members(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    for policy in [CancelFlowPolicy::FlowOnly, CancelFlowPolicy::CancelAll] {
        let flow = scene.empty_flow().await;
        let member = scene.join(flow, &[]).await;
        scene.cancel_flow(flow, policy).await.unwrap();
        let answer = scene.fabric.create_execution(into_flow(flow, &[])).await;
        assert_eq!(refused(answer), Code::FlowAlreadyTerminal);
        let solo = CreateExecution {
            execution_id: Some(beside(member)),
            ..in_lane("probe")
        };
        let solo = scene.submit(solo).await;
        let answer = scene
            .fabric
            .add_execution_to_flow(On::new(flow, AddExecution { execution_id: solo }))
            .await;
        assert_eq!(refused(answer), Code::FlowAlreadyTerminal);
    }
}

pub(crate) async fn a_member_of_an_unopened_flow_says_so(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let graph = scene.flow_with(&[("a", &[])], |_| None, false).await;
    let id = graph.member("a");
    let vector = scene.vector(id).await;
    assert_eq!(vector.eligibility_state, EligibilityState::BlockedByDependencies);
    assert_eq!(scene.detail(id).await, "flow not opened yet");
    assert_eq!(state(&scene, graph.flow_id).await, FlowState::Open);
    assert_eq!(scene.fabric.open_flow(graph.flow_id).await.unwrap(), Opened::Now);
    assert_eq!(scene.fabric.open_flow(graph.flow_id).await.unwrap(), Opened::Already);
    scene.settle().await;
    assert_eq!(scene.claim(WORKER).await.execution_id, id);
}

pub(crate) async fn a_cancelled_flow_is_not_opened(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let graph = scene.flow_with(&[("a", &[])], |_| None, false).await;
    scene
        .cancel_flow(graph.flow_id, CancelFlowPolicy::CancelAll)
        .await
        .unwrap();
    let answer = scene.fabric.open_flow(graph.flow_id).await;
    assert_eq!(refused(answer), Code::FlowAlreadyTerminal);
}

pub(crate) async fn a_holder_spawns_into_its_own_flow(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let flow = scene.empty_flow().await;
    let parent = scene.running(into_flow(flow, &[])).await;
    let spawn = |task: &Task| CreateExecution {
        parent_fence: Some(Holder {
            execution_id: task.execution_id,
            fence: task.fence,
        }),
        ..into_flow(flow, &[])
    };
    let child = scene.submit(spawn(&parent)).await;
    assert_eq!(scene.view(child).await.flow_id, Some(flow));
    let claimed = scene.claim(WORKER).await;
    assert_eq!(claimed.execution_id, child);
    let stranger = scene.running(submission()).await;
    let answer = scene.fabric.create_execution(spawn(&stranger)).await;
    assert_eq!(refused(answer), Code::ExecutionNotInFlow);
}

pub(crate) async fn who_lost_its_lease_spawns_nothing(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let flow = scene.empty_flow().await;
    let parent = scene.running(into_flow(flow, &[])).await;
    scene.revoke(parent.execution_id).await.unwrap();
    let spawn = CreateExecution {
        parent_fence: Some(Holder {
            execution_id: parent.execution_id,
            fence: parent.fence,
        }),
        ..into_flow(flow, &[])
    };
    assert_eq!(refused(scene.fabric.create_execution(spawn).await), Code::LeaseRevoked);
    assert_eq!(scene.fabric.get_flow(flow).await.unwrap().counts.members, 1);
}

pub(crate) async fn members_live_as_long_as_their_flow(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let flow = scene.empty_flow().await;
    let brief = CreateExecution {
        flow_id: Some(flow),
        ..with_policy(&json!({ "retention_ms": 1_000 }))
    };
    let task = scene.running(brief).await;
    scene.join(flow, &[]).await;
    scene.finish(&task).await;
    scene.after(HOUR).await;
    assert_eq!(scene.state(task.execution_id).await, PublicState::Completed);
}

pub(crate) async fn an_empty_flow_is_forgotten_after_a_day(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let flow = scene.empty_flow().await;
    scene.after(Duration::from_hours(23)).await;
    assert!(scene.fabric.get_flow(flow).await.is_ok());
    scene.after(HOUR).await;
    scene.after(SECOND).await;
    assert_eq!(refused(scene.fabric.get_flow(flow).await), Code::FlowNotFound);
}

pub(crate) async fn an_unopened_flow_is_forgotten_after_an_hour(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let graph = scene.flow_with(&[("a", &[])], |_| None, false).await;
    scene.after(HOUR).await;
    scene.after(SECOND).await;
    assert_eq!(refused(scene.fabric.get_flow(graph.flow_id).await), Code::FlowNotFound);
    let answer = scene.fabric.get_execution(graph.member("a")).await;
    assert_eq!(refused(answer), Code::ExecutionNotFound);
}

pub(crate) async fn only_a_flow_without_open_members_is_deleted(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let flow = scene.empty_flow().await;
    let task = scene.running(into_flow(flow, &[])).await;
    assert_eq!(
        refused(scene.fabric.delete_flow(flow).await),
        Code::ExecutionNotTerminal
    );
    scene.finish(&task).await;
    assert_eq!(scene.fabric.delete_flow(flow).await.unwrap(), Changed::Now);
    scene.settle().await;
    scene.after(SECOND).await;
    assert_eq!(refused(scene.fabric.get_flow(flow).await), Code::FlowNotFound);
    let answer = scene.fabric.get_execution(task.execution_id).await;
    assert_eq!(refused(answer), Code::ExecutionNotFound);
}

pub(crate) async fn the_tags_of_a_flow_are_replaced(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let flow = scene.empty_flow().await;
    let tags: Tags = [("team".to_owned(), "red".to_owned())].into();
    let set = |tags: &Tags| On::new(flow, SetTags { tags: tags.clone() });
    assert_eq!(scene.fabric.set_flow_tags(set(&tags)).await.unwrap(), Changed::Now);
    assert_eq!(scene.fabric.set_flow_tags(set(&tags)).await.unwrap(), Changed::Already);
    let bad: Tags = [("Team".to_owned(), String::new())].into();
    assert_eq!(
        refused(scene.fabric.set_flow_tags(set(&bad)).await),
        Code::InvalidTagKey
    );
    assert_eq!(scene.fabric.get_flow_tags(flow).await.unwrap().tags, tags);
}

pub(crate) async fn flows_are_listed_newest_first_by_what_is_asked(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let mut ids = Vec::new();
    for kind in ["red", "blue", "red"] {
        let definition = CreateFlow {
            flow_kind: FlowKind::parse(kind).unwrap(),
            tags: [("color".to_owned(), kind.to_owned())].into(),
            ..flow_definition()
        };
        let created = scene
            .fabric
            .create_flow(CreateFlowWith {
                flow_id: None,
                definition,
            })
            .await;
        ids.push(created.unwrap().flow_id);
        scene.after(SECOND).await;
    }
    let by_kind = ListFlows {
        kind: Some(FlowKind::parse("red").unwrap()),
        ..ListFlows::default()
    };
    assert_eq!(listed(&scene, by_kind).await, [ids[2], ids[0]]);
    let by_tag = ListFlows {
        tag: Some(("color".to_owned(), "blue".to_owned())),
        ..ListFlows::default()
    };
    assert_eq!(listed(&scene, by_tag).await, [ids[1]]);
    let of_another = ListFlows {
        namespace: Some(other_namespace()),
        ..ListFlows::default()
    };
    assert!(listed(&scene, of_another).await.is_empty());
    let page = scene
        .fabric
        .list_flows(ListFlows {
            page: first(2),
            ..ListFlows::default()
        })
        .await
        .unwrap();
    let rest = PageRequest {
        cursor: page.next,
        limit: None,
    };
    assert_eq!(
        listed(
            &scene,
            ListFlows {
                page: rest,
                ..ListFlows::default()
            }
        )
        .await,
        [ids[0]]
    );
}

pub(crate) async fn flows_are_listed_by_state_and_age(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let mut ids = Vec::new();
    let mut moments = Vec::new();
    for _ in 0..4 {
        let flow = scene.flow(&[("a", &[])]).await.flow_id;
        moments.push(scene.fabric.get_flow(flow).await.unwrap().created_at);
        ids.push(flow);
        scene.after(SECOND).await;
    }
    for flow in [ids[0], ids[2]] {
        scene.cancel_flow(flow, CancelFlowPolicy::CancelAll).await.unwrap();
    }
    scene.settle().await;
    let of_states = |state: &[FlowState], page| ListFlows {
        state: state.to_vec(),
        page,
        ..ListFlows::default()
    };
    let cancelled = of_states(&[FlowState::Cancelled], first(1));
    let one = scene.fabric.list_flows(cancelled.clone()).await.unwrap();
    assert_eq!(one.items.iter().map(|flow| flow.flow_id).collect::<Vec<_>>(), [ids[2]]);
    assert!(one.looked_at >= 2);
    assert_eq!(one.reached_at, Some(moments[2]));
    let rest = PageRequest {
        cursor: one.next,
        limit: None,
    };
    assert_eq!(
        listed(
            &scene,
            ListFlows {
                page: rest,
                ..cancelled
            }
        )
        .await,
        [ids[0]]
    );
    let either = of_states(&[FlowState::Running, FlowState::Cancelled], first(10));
    assert_eq!(listed(&scene, either).await, [ids[3], ids[2], ids[1], ids[0]]);
    let between = ListFlows {
        created_from: Some(moments[1]),
        created_before: Some(moments[3]),
        ..ListFlows::default()
    };
    assert_eq!(listed(&scene, between).await, [ids[2], ids[1]]);
}

async fn listed(scene: &Scene<'_>, request: ListFlows) -> Vec<FlowId> {
    let page = scene.fabric.list_flows(request).await.unwrap();
    page.items.iter().map(|flow| flow.flow_id).collect()
}

pub(crate) async fn members_are_listed_in_pages(harness: &dyn Harness) {
    let scene = Scene::new(harness);
    let graph = scene.flow(&[("a", &[]), ("b", &["a"]), ("c", &[])]).await;
    let (mut seen, mut cursor) = (Vec::new(), None);
    loop {
        let page = PageRequest { cursor, limit: Some(2) };
        let page = scene.fabric.list_members(On::new(graph.flow_id, page)).await.unwrap();
        seen.extend(page.items.iter().map(|view| (view.created_at, view.execution_id)));
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    assert!(
        seen.is_sorted_by(|left, right| left > right),
        "the newest first, each once"
    );
    let seen: BTreeSet<_> = seen.into_iter().map(|(_, id)| id).collect();
    assert_eq!(seen, graph.members.values().copied().collect());
}
