//! Claims and exchanges whose calls the store answers in part, or not.

use std::sync::Arc;

use ff_core::command::claim::{Claim, Exchange, Finish, FinishedOutcome};
use ff_core::command::lease::{Complete, Completed};
use ff_core::fabric::{Fabric as _, On};
use ff_core::record::Incarnation;
use ff_core::time::Duration;
use ff_engine::{Config, Engine};
use uuid::Uuid;

use super::support::faulty::{Call, Fault};
use super::support::{START, World, work};
use crate::support::claim;

async fn with_ten() -> World {
    let world = World::new();
    for _ in 0..10 {
        world.submit(work()).await;
    }
    world.backend.script(Call::Reserve, Fault::Partly);
    world
}

#[tokio::test]
async fn after_a_claim_that_was_answered_in_part_the_next_one_finds_the_rest() {
    let world = with_ten().await;
    assert_eq!(world.engine.claim(claim(1, 5)).await.unwrap().len(), 1);
    assert_eq!(world.engine.claim(claim(2, 9)).await.unwrap().len(), 9);
}

#[tokio::test]
async fn whoever_shared_a_claim_that_was_answered_in_part_is_served_at_once() {
    let world = with_ten().await;
    let patient = |number| Claim {
        wait: Duration::from_secs(30),
        ..claim(number, 2)
    };
    let claims = futures::future::join(world.engine.claim(patient(1)), world.engine.claim(patient(2)));
    let (first, second) = tokio::time::timeout(std::time::Duration::from_secs(20), claims)
        .await
        .expect("both are served without anybody letting time pass");
    assert!(!first.unwrap().is_empty() && !second.unwrap().is_empty());
}

/// Every reply that says that something was done says when, so nobody has to ask for the time afterwards.
#[tokio::test]
async fn an_exchange_says_what_came_of_it_although_nobody_can_ask_for_the_time() {
    let world = World::new();
    let held = world.running(work()).await;
    let started_anew = Engine::new(
        Arc::clone(&world.backend) as _,
        Arc::clone(&world.host) as _,
        Config::new(world.counts),
    );
    for _ in 0..100 {
        world.backend.script(Call::Ping, Fault::Down);
    }
    let claim = claim(1, 1);
    let complete = Finish::Complete(Complete::default()).under(held.fence);
    let exchange = Exchange {
        namespace: claim.namespace,
        worker: claim.worker,
        instance: claim.instance,
        incarnation: Incarnation(Uuid::from_u128(4)),
        finished: vec![On::new(held.id, complete)],
        renew: Vec::new(),
        frames: Vec::new(),
        usage: Vec::new(),
        want: None,
        load: Default::default(),
        wait: Duration::ZERO,
        request_id: None,
        steps: Vec::new(),
    };
    let exchanged = started_anew.exchange(exchange).await.unwrap();
    let completed = FinishedOutcome::Completed(Completed::Now);
    assert_eq!((exchanged.results, exchanged.server_time), (vec![Ok(completed)], START));
}
