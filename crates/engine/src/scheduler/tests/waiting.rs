//! Claims that find nothing.

use std::time::Duration as HostDuration;

use ff_core::command::claim::Claim;
use ff_core::error::Code;
use ff_core::fabric::Fabric;
use ff_core::name::{LaneId, Namespace};
use tokio::sync::oneshot;

use super::support::{claim, command, settle, want};
use super::{World, answer, patient};

#[tokio::test]
async fn a_thousand_parked_claims_make_no_calls_while_nothing_happens() {
    let world = World::new();
    let parked: Vec<_> = (0..1_000).map(|number| world.claims(patient(number))).collect();
    settle().await;
    let calls = world.store.calls();
    world.host.advance(HostDuration::from_secs(19));
    settle().await;
    assert_eq!(world.store.calls(), calls);
    assert!(calls < 20, "{calls} calls to find out that there is nothing");
    world.host.advance(HostDuration::from_secs(1));
    for claim in parked {
        assert_eq!(answer(claim).await.unwrap(), []);
    }
    assert_eq!(world.store.calls(), calls);
}

#[tokio::test]
async fn a_claim_that_does_not_wait_believes_for_a_second_that_there_is_nothing() {
    let world = World::new();
    world.engine.claim(claim(1)).await.unwrap();
    let reserves = world.store.calls_of("reserve");
    world.engine.claim(claim(2)).await.unwrap();
    assert_eq!(world.store.calls_of("reserve"), reserves);
    world.host.advance(HostDuration::from_secs(1));
    world.engine.claim(claim(3)).await.unwrap();
    assert_eq!(world.store.calls_of("reserve"), reserves + 1);
}

#[tokio::test]
async fn a_claim_that_does_not_wait_looks_again_after_a_hint() {
    let world = World::new();
    world.engine.claim(claim(1)).await.unwrap();
    let id = world.store.submit(command()).await;
    world
        .engine
        .shared
        .claim_queues
        .wake(&Namespace::default_namespace(), &LaneId::default_lane());
    let tasks = world.engine.claim(claim(2)).await.unwrap();
    assert_eq!(tasks[0].execution_id, id);
}

#[tokio::test]
async fn a_caller_that_went_away_is_handed_nothing() {
    let world = World::new();
    let gone = world.claims(patient(1));
    settle().await;
    let waits = world.claims(patient(2));
    settle().await;
    gone.abort();
    settle().await;
    world.store.submit(command()).await;
    world.engine.shared.claim_queues.wake_all();
    let tasks = answer(waits).await.unwrap();
    let held = world.store.execution(tasks[0].execution_id).await;
    assert_eq!(held.lease().unwrap().instance.as_str(), "worker-2");
}

/// The next round says when it begins, and goes on when it is told to.
fn hold_next_round(world: &World) -> (oneshot::Receiver<()>, oneshot::Sender<()>) {
    let (enter, entered) = oneshot::channel();
    let (proceed, proceeds) = oneshot::channel();
    let hold = async move {
        enter.send(()).unwrap();
        proceeds.await.unwrap();
    };
    world.store.before_next("reserve", Box::new(move |_| Box::pin(hold)));
    (entered, proceed)
}

#[tokio::test]
async fn a_round_goes_on_when_its_caller_goes_away_in_the_middle() {
    let world = World::new();
    let id = world.store.submit(command()).await;
    let (entered, proceed) = hold_next_round(&world);
    let first = world.claims(claim(1));
    entered.await.unwrap();
    let second = world.claims(claim(2));
    first.abort();
    settle().await;
    proceed.send(()).unwrap();
    // What was leased for the first one comes back when its short lease ends; the second one is served all the same.
    assert_eq!(answer(second).await.unwrap(), []);
    assert!(world.store.execution(id).await.lease().is_some());
}

#[tokio::test]
async fn a_caller_that_went_away_while_it_was_served_is_not_served_again() {
    let world = World::new();
    let (entered, proceed) = hold_next_round(&world);
    let gone = world.claims(patient(1));
    entered.await.unwrap();
    gone.abort();
    let waits = world.claims(patient(2));
    settle().await;
    proceed.send(()).unwrap();
    settle().await;
    world.store.submit(command()).await;
    world.engine.shared.claim_queues.wake_all();
    assert_eq!(answer(waits).await.unwrap().len(), 1);
}

#[tokio::test]
async fn whoever_is_served_when_the_time_is_up_still_gets_what_comes() {
    let world = World::new();
    let id = world.store.submit(command()).await;
    let (entered, proceed) = hold_next_round(&world);
    let claimed = world.claims(patient(1));
    entered.await.unwrap();
    world.host.advance(HostDuration::from_secs(20));
    settle().await;
    proceed.send(()).unwrap();
    assert_eq!(answer(claimed).await.unwrap()[0].execution_id, id);
}

#[tokio::test]
async fn closing_answers_everybody_and_refuses_the_next() {
    let world = World::new();
    let parked: Vec<_> = (0..10).map(|number| world.claims(patient(number))).collect();
    settle().await;
    world.engine.shared.claim_queues.close();
    for claim in parked {
        assert_eq!(answer(claim).await.unwrap(), []);
    }
    let refused = world.engine.claim(claim(1)).await.unwrap_err();
    assert_eq!(refused.code, Code::ShuttingDown);
}

#[tokio::test]
async fn waiting_claims_are_told_when_the_store_fails() {
    let world = World::new();
    world.store.set_broken("reserve", true);
    let refused = answer(world.claims(patient(1))).await.unwrap_err();
    assert_eq!(refused.code, Code::Unavailable);
    world.store.set_broken("reserve", false);
    assert_eq!(world.engine.claim(claim(1)).await.unwrap(), []);
}

#[tokio::test]
async fn claims_that_want_something_else_wait_in_another_queue() {
    let world = World::new();
    let mut other = patient(1);
    other.want.lanes = vec![LaneId::parse("other").unwrap()];
    let other = world.claims(other);
    settle().await;
    world.store.submit(command()).await;
    world
        .engine
        .shared
        .claim_queues
        .wake(&Namespace::default_namespace(), &LaneId::default_lane());
    settle().await;
    assert!(!other.is_finished());
    let mut many = claim(2);
    many.want = want(5);
    assert_eq!(world.engine.claim(many).await.unwrap().len(), 1);
    world.engine.shared.claim_queues.close();
    assert_eq!(answer(other).await.unwrap(), []);
}

#[tokio::test]
async fn waiting_claims_are_told_when_their_serving_loop_breaks_down() {
    let world = World::new();
    world.store.before_next("reserve", Box::new(|_| panic!("on purpose")));
    let refused = answer(world.claims(patient(1))).await.unwrap_err();
    assert_eq!(refused.code, Code::Unavailable);
    assert_eq!(world.engine.claim(claim(1)).await.unwrap(), []);
}

/// A claim for so many, which waits.
fn patient_for(number: usize, max: usize) -> Claim {
    let mut claim = patient(number);
    claim.want.max = max;
    claim
}

#[tokio::test]
async fn who_wants_much_does_not_wait_for_the_round_before() {
    let world = World::new();
    let (entered, proceed) = hold_next_round(&world);
    let first = world.claims(patient(1));
    entered.await.unwrap();
    world.store.submit(command()).await;
    assert_eq!(answer(world.claims(patient_for(2, 64))).await.unwrap().len(), 1);
    proceed.send(()).unwrap();
    settle().await;
    world.store.submit(command()).await;
    world.engine.shared.claim_queues.wake_all();
    assert_eq!(answer(first).await.unwrap().len(), 1);
}

#[tokio::test]
async fn who_wants_little_shares_the_next_round() {
    let world = World::new();
    let (entered, proceed) = hold_next_round(&world);
    let first = world.claims(patient(1));
    entered.await.unwrap();
    let others: Vec<_> = (2..10).map(|number| world.claims(patient(number))).collect();
    for _ in 0..9 {
        world.store.submit(command()).await;
    }
    settle().await;
    let before = world.store.calls_of("reserve");
    proceed.send(()).unwrap();
    for claim in others.into_iter().chain([first]) {
        assert_eq!(answer(claim).await.unwrap().len(), 1);
    }
    assert_eq!(world.store.calls_of("reserve"), before + 1);
}

/// What ten get who want 32 each and come at the same time.
async fn shares_of_ten(world: &World) -> Vec<usize> {
    let claims: Vec<_> = (0..10).map(|number| world.claims(patient_for(number, 32))).collect();
    settle().await;
    world.engine.shared.claim_queues.wake_all();
    let mut shares = Vec::new();
    for claim in claims {
        shares.push(answer(claim).await.unwrap().len());
    }
    shares
}

#[tokio::test]
async fn where_there_was_nothing_everybody_gets_some() {
    let world = World::new();
    assert_eq!(world.engine.claim(claim(1)).await.unwrap(), []);
    for _ in 0..10 {
        world.store.submit(command()).await;
    }
    assert_eq!(shares_of_ten(&world).await, [1; 10]);
}

#[tokio::test]
async fn where_there_is_plenty_everybody_gets_all() {
    let world = World::new();
    for _ in 0..321 {
        world.store.submit(command()).await;
    }
    assert_eq!(world.engine.claim(claim(1)).await.unwrap().len(), 1);
    assert_eq!(shares_of_ten(&world).await, [32; 10]);
}

#[tokio::test]
async fn a_round_that_breaks_down_does_not_take_the_other_with_it() {
    let world = World::new();
    let (entered, proceed) = hold_next_round(&world);
    let first = world.claims(patient(1));
    entered.await.unwrap();
    world.store.before_next("reserve", Box::new(|_| panic!("on purpose")));
    let refused = answer(world.claims(patient_for(2, 64))).await.unwrap_err();
    assert_eq!(refused.code, Code::Unavailable);
    world.store.submit(command()).await;
    proceed.send(()).unwrap();
    assert_eq!(answer(first).await.unwrap().len(), 1);
    assert_eq!(world.engine.claim(claim(1)).await.unwrap(), []);
}
