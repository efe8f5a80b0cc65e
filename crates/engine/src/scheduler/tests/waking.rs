//! What ends the waiting.

use std::collections::BTreeSet;
use std::sync::Arc;

use ff_backend::Backend;
use ff_backend::hint::Hint;
use ff_backend::limits;
use ff_core::command::budget::ResetBudget;
use ff_core::name::{LaneId, Namespace};
use ff_core::record::Cause;
use futures::future::join_all;

use super::support::{command, settle, want};
use super::{World, answer, patient};

#[tokio::test]
async fn a_parked_claim_is_woken_by_the_hint_of_its_lane() {
    let world = World::new();
    let mut hints = world.store.hints();
    let claimed = world.claims(patient(1));
    settle().await;
    let id = world.store.submit(command()).await;
    while let Some(hint) = hints.try_next() {
        if let Hint::Eligible { namespace, lane, .. } = hint {
            world.engine.shared.claim_queues.wake(&namespace, &lane);
        }
    }
    assert_eq!(answer(claimed).await.unwrap()[0].execution_id, id);
}

#[tokio::test]
async fn a_hint_during_a_round_makes_another_round() {
    let world = World::new();
    let engine = world.engine.clone();
    let store = Arc::clone(&world.store);
    // The round has asked for its lanes and sees the store as it was; then work comes, with its hint.
    world.store.before_next(
        "reserve",
        Box::new(move |_| {
            Box::pin(async move {
                let again = Arc::clone(&store);
                store.before_next(
                    "settings",
                    Box::new(move |_| {
                        Box::pin(async move {
                            again.submit(command()).await;
                        })
                    }),
                );
                engine
                    .shared
                    .claim_queues
                    .wake(&Namespace::default_namespace(), &LaneId::default_lane());
            })
        }),
    );
    let tasks = answer(world.claims(patient(1))).await.unwrap();
    assert_eq!(tasks.len(), 1);
    assert_eq!(world.store.calls_of("reserve"), 2);
}

#[tokio::test]
async fn one_task_goes_to_one_of_a_thousand_and_the_others_wait_on() {
    let world = World::new();
    let parked: Vec<_> = (0..1_000).map(|number| world.claims(patient(number))).collect();
    settle().await;
    let reserves = world.store.calls_of("reserve");
    world.store.submit(command()).await;
    world.engine.shared.claim_queues.wake_all();
    settle().await;
    let served = parked.iter().filter(|claim| claim.is_finished()).count();
    assert_eq!(served, 1);
    assert!(world.store.calls_of("reserve") - reserves <= 2);
    world.engine.shared.claim_queues.close();
    let answers = join_all(parked).await;
    let tasks: usize = answers.into_iter().map(|answer| answer.unwrap().unwrap().len()).sum();
    assert_eq!(tasks, 1);
}

#[tokio::test]
async fn everybody_gets_one_before_anybody_gets_two() {
    let world = World::new();
    let parked: Vec<_> = (0..3)
        .map(|number| {
            let mut claim = patient(number);
            claim.want = want(10);
            world.claims(claim)
        })
        .collect();
    settle().await;
    for _ in 0..4 {
        world.store.submit(command()).await;
    }
    world.engine.shared.claim_queues.wake_all();
    let mut got = Vec::new();
    for claim in parked {
        got.push(answer(claim).await.unwrap().len());
    }
    assert_eq!(got, [2, 1, 1]);
}

#[tokio::test]
async fn whoever_left_work_of_a_closed_budget_aside_is_told_when_it_moves() {
    let world = World::new();
    let budget = world.store.budget(5, 5).await;
    let mut limited = command();
    limited.policy.budget_ids = BTreeSet::from([budget]);
    let blocked = world.store.submit(limited.clone()).await;
    let claimed = world.claims(patient(1));
    settle().await;
    assert!(world.store.execution(blocked).await.runnable().unwrap().block.is_some());
    // It stands in the queue, and nobody even looks.
    let queued = world.store.submit(limited).await;
    let calls = world.store.calls_of("reserve");
    settle().await;
    assert_eq!(world.store.calls_of("reserve"), calls);
    let reset = limits::budgets::reset(&world.store.direct(), budget, &ResetBudget::default()).await;
    reset.unwrap();
    world.engine.shared.causes.moved(Cause::Budget(budget));
    assert_eq!(answer(claimed).await.unwrap()[0].execution_id, queued);
}

#[tokio::test]
async fn a_budget_that_turned_out_closed_is_named_once_to_whoever_moves_its_queue() {
    let world = World::new();
    let budget = world.store.budget(5, 5).await;
    for _ in 0..3 {
        let mut limited = command();
        limited.policy.budget_ids = BTreeSet::from([budget]);
        world.store.submit(limited).await;
    }
    let claimed = world.claims(patient(1));
    settle().await;
    assert_eq!(world.engine.shared.causes.take_closed_budgets(), [budget]);
    assert_eq!(world.engine.shared.causes.take_closed_budgets(), []);
    assert!(!world.engine.shared.due_soon.take(1).is_empty());
    world.engine.shared.claim_queues.close();
    assert_eq!(answer(claimed).await.unwrap(), []);
}
