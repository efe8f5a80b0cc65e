//! Follow-up work that takes many chunks, done by processes that die or work side by side.

use ff_core::command::flow::CancelFlow;
use ff_core::fabric::{Flows, On};
use ff_core::machine::flow::FlowState;
use ff_core::record::{CancelFlowPolicy, EdgeGroupPolicy, OnSatisfied};
use ff_core::state::PublicState as S;
use ff_core::time::Duration;
use ff_engine::Engine;

use super::graph::diamond;
use super::world::{FLOW, Sketch, World};

const ANY: EdgeGroupPolicy = EdgeGroupPolicy::AnyOf {
    on_satisfied: OnSatisfied::CancelRemaining,
};

/// Every process does one pass and dies.
async fn settle_by_mortals(world: &mut World) {
    for _ in 0..10_000 {
        world.restart();
        if world.engine.pump_pass().await.unwrap() == 0 {
            return;
        }
    }
    panic!("there is always more to do");
}

#[tokio::test]
async fn processes_that_die_after_every_chunk_get_done_together() {
    let (mut world, ids) = World::with(diamond(300)).await;
    world.finish(ids["source"]).await;
    settle_by_mortals(&mut world).await;
    assert_eq!(world.flow().await.counts.of(S::Waiting), 300);
    let cancel = CancelFlow {
        reason: "enough".to_owned(),
        policy: CancelFlowPolicy::CancelAll,
        wait: Duration::ZERO,
    };
    world.engine.cancel_flow(On::new(FLOW, cancel)).await.unwrap();
    settle_by_mortals(&mut world).await;
    assert_eq!(world.flow().await.counts.of(S::Cancelled), 301);
    world.assert_counted().await;
}

#[tokio::test]
async fn two_replicas_pump_the_same_flow() {
    let (world, ids) = World::with(diamond(300)).await;
    let other = world.replica(11);
    world.fail(ids["source"]).await;
    world.replay(ids["source"]).await;
    world.finish(ids["source"]).await;
    for _ in 0..1_000 {
        let (one, two) = tokio::join!(world.engine.pump_pass(), other.pump_pass());
        if one.unwrap() + two.unwrap() == 0 {
            break;
        }
    }
    assert_eq!(world.flow().await.counts.of(S::Waiting), 300);
    world.assert_counted().await;
}

#[tokio::test]
async fn siblings_beyond_the_first_chunk_are_cancelled_although_the_first_are_needed() {
    let names: Vec<_> = (0..200).map(|number| format!("m{number}")).collect();
    let mut sketch = Sketch::default();
    for name in &names {
        sketch = sketch.member(name, &[]);
    }
    let all: Vec<_> = names.iter().map(String::as_str).collect();
    sketch = sketch.joining("first", &all, ANY);
    let sketch = sketch.member("other", &all[..150]);
    let (world, ids) = World::with(sketch).await;
    world.complete(ids["m199"]).await;
    let counts = world.flow().await.counts;
    assert_eq!(counts.of(S::Cancelled), 49);
    assert_eq!(counts.of(S::Completed), 1);
    assert_eq!(world.state(ids["other"]).await, S::WaitingChildren);
    world.assert_counted().await;
}

#[tokio::test]
async fn a_wide_join_waits_for_the_last_of_hundreds() {
    let (world, ids) = World::with(diamond(200)).await;
    world.complete(ids["source"]).await;
    assert_eq!(world.claim().await.len(), 200);
    for number in 0..199 {
        world.finish(ids[&format!("m{number}")]).await;
    }
    world.settle().await;
    assert_eq!(world.state(ids["sink"]).await, S::WaitingChildren);
    world.complete(ids["m199"]).await;
    world.complete(ids["sink"]).await;
    assert_eq!(world.flow().await.state, FlowState::Completed);
    world.assert_counted().await;
}

#[tokio::test]
async fn a_flow_created_again_under_its_old_id_is_opened_from_the_start() {
    let world = World::new();
    let other = world.replica(12);
    world.build(diamond(300).command(true)).await.unwrap();
    world.engine.pump_pass().await.unwrap();
    // Somebody else does the rest, and what this process remembers of it grows old.
    settle(&other).await;
    let cancel = CancelFlow {
        reason: "enough".to_owned(),
        policy: CancelFlowPolicy::CancelAll,
        wait: Duration::from_secs(30),
    };
    other.cancel_flow(On::new(FLOW, cancel)).await.unwrap();
    settle(&other).await;
    other.delete_flow(FLOW).await.unwrap();
    settle(&other).await;
    let ids = world.create(diamond(300)).await;
    world.complete(ids["source"]).await;
    assert_eq!(world.flow().await.counts.of(S::Waiting), 300);
}

async fn settle(engine: &Engine) {
    while engine.pump_pass().await.unwrap() > 0 {}
}
