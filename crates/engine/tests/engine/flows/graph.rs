//! Creating graphs, whole and in parts, through interruptions.

use ff_core::command::flow::{Assembly, CancelFlow, CreateFlowWith};
use ff_core::command::lane::SetLaneState;
use ff_core::command::submit::LaneState;
use ff_core::error::Code;
use ff_core::fabric::{Flows, On, Operate};
use ff_core::id::FlowId;
use ff_core::name::{LaneId, Namespace};
use ff_core::record::CancelFlowPolicy;
use ff_core::state::PublicState as S;
use ff_core::time::Duration;
use uuid::Uuid;

use super::shaky::Fate;
use super::world::{FLOW, Sketch, World, code, definition};

/// A source, `width` members after it, and a sink.
pub(crate) fn diamond(width: usize) -> Sketch {
    let names: Vec<_> = (0..width).map(|number| format!("m{number}")).collect();
    let mut sketch = Sketch::default().member("source", &[]);
    for name in &names {
        sketch = sketch.member(name, &["source"]);
    }
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    sketch.member("sink", &names)
}

#[tokio::test]
async fn nothing_runs_before_the_graph_is_whole() {
    let world = World::new();
    let first = Sketch::default().member("a", &[]);
    world.build(first.command(false)).await.unwrap();
    world.settle().await;
    assert_eq!(world.claim().await, []);
    let second = Sketch::default().member("b", &["a"]);
    let second = world.build(second.command(true)).await.unwrap();
    world.settle().await;
    assert_eq!(world.claim().await.len(), 1);
    assert_eq!(world.state(second.execution_ids[0]).await, S::WaitingChildren);
    world.assert_counted().await;
}

#[tokio::test]
async fn a_repeated_call_means_the_same_members() {
    let world = World::new();
    let first = world.build(diamond(100).command(true)).await.unwrap();
    let again = world.build(diamond(100).command(true)).await.unwrap();
    assert_eq!(first, again);
    assert_eq!(world.flow().await.counts.members, 102);
    assert_eq!(world.flow().await.graph_revision, 200);
}

#[tokio::test]
async fn a_call_that_was_interrupted_is_finished_by_the_next_one() {
    for fate in [Fate::Fails, Fate::ReplyLost, Fate::RequestLost] {
        for before in 0..6 {
            let mut world = World::new();
            let fates = vec![Fate::Lands; before].into_iter().chain([fate; 10]);
            world.line.expect(fates);
            let first = world.build(diamond(100).command(true)).await;
            if fate != Fate::ReplyLost {
                assert_eq!(code(first), Code::Unavailable, "{fate:?} after {before}");
            }
            world.line.expect([]);
            world.restart();
            world.settle().await;
            world.build(diamond(100).command(true)).await.unwrap();
            world.settle().await;
            let flow = world.flow().await;
            assert_eq!(
                (flow.counts.members, flow.graph_revision),
                (102, 200),
                "{fate:?} after {before}"
            );
            assert_eq!(world.claim().await.len(), 1);
            world.assert_counted().await;
        }
    }
}

#[tokio::test]
async fn two_callers_build_the_same_graph_together() {
    let world = World::new();
    let other = world.replica(8);
    let (first, second) = tokio::join!(
        world.build(diamond(100).command(true)),
        other.create_flow_graph(diamond(100).command(true)),
    );
    assert_eq!(first.unwrap(), second.unwrap());
    world.settle().await;
    assert_eq!(world.flow().await.counts.members, 102);
    world.assert_counted().await;
}

#[tokio::test]
async fn parts_sent_at_once_close_no_cycle() {
    let world = World::new();
    let other = world.replica(8);
    let both = || Sketch::default().member("a", &[]).member("b", &[]);
    world.build(both().command(false)).await.unwrap();
    let there = Sketch::default().member("a", &[]).member("b", &["a"]);
    let back = Sketch::default().member("b", &[]).member("a", &["b"]);
    let (there, back) = tokio::join!(
        world.build(there.command(false)),
        other.create_flow_graph(back.command(false)),
    );
    let refused: Vec<_> = [there, back].into_iter().filter_map(Result::err).collect();
    assert_eq!(refused.len(), 1);
    assert_eq!(refused[0].code, Code::CycleDetected);
    assert_eq!(world.flow().await.graph_revision, 1);
}

#[tokio::test]
async fn a_repeated_call_is_answered_whatever_became_of_the_flow() {
    let (world, ids) = World::with(Sketch::default().member("a", &[])).await;
    let lane = SetLaneState {
        namespace: Namespace::default_namespace(),
        lane_id: LaneId::default_lane(),
        state: LaneState::Disabled,
    };
    let cancel = CancelFlow {
        reason: "enough".to_owned(),
        policy: CancelFlowPolicy::CancelAll,
        wait: Duration::from_secs(30),
    };
    world.engine.cancel_flow(On::new(FLOW, cancel)).await.unwrap();
    world.engine.set_lane_state(lane).await.unwrap();
    let again = world.build(Sketch::default().member("a", &[]).command(true)).await;
    assert_eq!(again.unwrap().execution_ids, [ids["a"]]);
}

#[tokio::test]
async fn a_member_that_cannot_be_submitted_leaves_nothing_behind() {
    let world = World::new();
    let bad = diamond(100).with(|sink| sink.priority = 9_001);
    assert_eq!(code(world.build(bad.command(true)).await), Code::InvalidInput);
    let other = "other".parse::<Namespace>().unwrap();
    let foreign = diamond(100).with(|sink| sink.namespace = other);
    assert_eq!(code(world.build(foreign.command(true)).await), Code::InvalidInput);
    assert_eq!(code(world.engine.get_flow(FLOW).await), Code::FlowNotFound);
}

#[tokio::test]
async fn a_lane_that_takes_no_work_refuses_the_graph() {
    let world = World::new();
    let lane = SetLaneState {
        namespace: Namespace::default_namespace(),
        lane_id: LaneId::default_lane(),
        state: LaneState::Draining,
    };
    world.engine.set_lane_state(lane).await.unwrap();
    let refused = world.build(Sketch::default().member("a", &[]).command(true)).await;
    assert_eq!(code(refused), Code::LaneNotAccepting);
    assert_eq!(code(world.engine.get_flow(FLOW).await), Code::FlowNotFound);
}

#[tokio::test]
async fn a_flow_of_another_definition_is_not_built_on() {
    let world = World::new();
    let open = CreateFlowWith {
        flow_id: Some(FLOW),
        definition: definition(Assembly::Open),
    };
    world.engine.create_flow(open).await.unwrap();
    let refused = world.build(Sketch::default().member("a", &[]).command(true)).await;
    assert_eq!(code(refused), Code::AlreadyExists);
}

#[tokio::test]
async fn an_opened_flow_takes_no_further_part() {
    let (world, _) = World::with(Sketch::default().member("a", &[])).await;
    let refused = world.build(Sketch::default().member("b", &["a"]).command(true)).await;
    assert_eq!(code(refused), Code::AlreadyExists);
    assert_eq!(world.flow().await.counts.members, 1);
}

#[tokio::test]
async fn an_execution_of_another_flow_cannot_be_a_member() {
    let (world, ids) = World::with(Sketch::default().member("a", &[])).await;
    let stranger = Sketch::default()
        .member("x", &[])
        .with(|x| x.execution_id = Some(ids["a"]));
    let mut command = stranger.command(true);
    // The same partition, another flow.
    let partition = ids["a"].partition();
    let counts = ff_core::partition::PartitionCounts::new(4, 2, 2).unwrap();
    let other = (1..).map(|number| FlowId::from_uuid(Uuid::from_u128(number)));
    command.flow.flow_id = other.into_iter().find(|id| counts.of_flow(*id) == partition);
    assert_eq!(code(world.build(command).await), Code::AlreadyExists);
}

#[tokio::test]
async fn a_flow_is_created_once() {
    let world = World::new();
    let create = || CreateFlowWith {
        flow_id: None,
        definition: definition(Assembly::Open),
    };
    let first = world.engine.create_flow(create()).await.unwrap();
    let second = world.engine.create_flow(create()).await.unwrap();
    assert_ne!(first.flow_id, second.flow_id);
    let again = CreateFlowWith {
        flow_id: Some(first.flow_id),
        ..create()
    };
    let again = world.engine.create_flow(again).await.unwrap();
    assert_eq!(again.created, ff_core::command::flow::FlowCreated::Exists);
}
