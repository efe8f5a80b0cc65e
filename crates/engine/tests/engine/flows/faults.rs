//! Whatever goes wrong between the process and the store, the flow comes out the same.

use std::collections::BTreeMap;

use ff_core::command::flow::ReplayExecution;
use ff_core::fabric::{Fabric, On};
use ff_core::id::ExecutionId;
use ff_core::record::{EdgeGroupPolicy, OnSatisfied};
use ff_core::state::PublicState;

use super::shaky::Fate;
use super::world::{Sketch, World};

fn sketch() -> Sketch {
    let any = EdgeGroupPolicy::AnyOf {
        on_satisfied: OnSatisfied::CancelRemaining,
    };
    Sketch::default()
        .member("a", &[])
        .member("b", &[])
        .member("c", &[])
        .joining("first", &["a", "b"], any)
        .member("both", &["first", "c"])
        .member("last", &["both"])
}

/// The pump under these fates, then that of another process: what failed is done again.
async fn settle_badly(world: &World, fates: Vec<Fate>) {
    world.line.expect(fates);
    for _ in 0..50 {
        // A pass that fails is what this is about.
        let _ = world.engine.pump_pass().await;
    }
    world.line.expect([]);
    let other = world.replica(99);
    while other.pump_pass().await.unwrap() > 0 {}
}

async fn outcome(fates: &[Fate]) -> BTreeMap<String, PublicState> {
    let (world, ids) = World::with(sketch()).await;
    world.claim().await;
    world.fail(ids["c"]).await;
    world.finish(ids["a"]).await;
    settle_badly(&world, fates.to_vec()).await;
    let replay = On::new(ids["c"], ReplayExecution::default());
    world.engine.replay_execution(replay).await.unwrap();
    settle_badly(&world, fates.to_vec()).await;
    world.assert_counted().await;
    states(&world, &ids).await
}

async fn states(world: &World, ids: &BTreeMap<String, ExecutionId>) -> BTreeMap<String, PublicState> {
    let mut states = BTreeMap::new();
    for (key, id) in ids {
        states.insert(key.clone(), world.state(*id).await);
    }
    states
}

#[tokio::test]
async fn lost_and_failed_commits_change_nothing_about_the_outcome() {
    let undisturbed = outcome(&[]).await;
    assert_eq!(undisturbed["both"], PublicState::WaitingChildren);
    for fate in [Fate::Fails, Fate::ReplyLost, Fate::RequestLost] {
        for place in 0..12 {
            for length in [1, 2, 5] {
                let mut fates = vec![Fate::Lands; place];
                fates.extend(vec![fate; length]);
                assert_eq!(outcome(&fates).await, undisturbed, "{length} × {fate:?} after {place}");
            }
        }
    }
}
