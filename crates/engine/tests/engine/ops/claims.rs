//! Claims that the store answers in part.

use ff_core::command::claim::Claim;
use ff_core::fabric::Claims as _;
use ff_core::time::Duration;

use super::support::faulty::{Call, Fault};
use super::support::{World, work};
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
