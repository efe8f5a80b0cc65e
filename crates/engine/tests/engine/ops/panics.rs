//! A panic inside a call to the store costs nothing but that call.

use std::time::Duration as Span;

use ff_core::error::Code;
use ff_core::fabric::Fabric;

use super::support::faulty::{Call, Fault};
use super::support::{World, code, work};
use crate::support::claim;

/// More than the calls of one kind that are under way at the same time.
const MANY: usize = 5;

/// A call that hangs has failed.
async fn promptly<T>(answer: impl Future<Output = T>) -> T {
    let answered = tokio::time::timeout(Span::from_secs(20), answer).await;
    answered.expect("an answer")
}

#[tokio::test]
async fn a_submission_whose_calls_panic_is_answered_and_so_is_the_next() {
    for call in [Call::Load, Call::Commit] {
        let world = World::new();
        for _ in 0..MANY {
            world.backend.script(call, Fault::Panics);
        }
        for _ in 0..=MANY {
            let answer = promptly(world.engine.create_execution(work())).await;
            assert!(answer.is_ok() || code(answer) == Code::Unavailable);
        }
        promptly(world.submit(work())).await;
    }
}

#[tokio::test]
async fn a_claim_whose_reservation_panics_is_answered_and_so_is_the_next() {
    let world = World::new();
    world.submit(work()).await;
    for _ in 0..MANY {
        world.backend.script(Call::Reserve, Fault::Panics);
        let answer = promptly(world.engine.claim(claim(1, 1))).await;
        assert_eq!(code(answer), Code::Unavailable);
    }
    assert_eq!(promptly(world.engine.claim(claim(1, 1))).await.unwrap().len(), 1);
}
