//! Round trips to a store on another machine, counted on the way there. The engine listens and does not pump, so nothing but what
//! a test does talks to the store. On one thread, because then callers that come together always share a call.

mod postgres;
mod proxy;
mod valkey;
mod world;

use ff_core::policy::Policy;
use futures::future::join_all;

use self::world::{Wire, World, costing, done};

/// Makes a test of each case. `warm` is an async function in scope that returns a [`World`].
macro_rules! on_a_store {
    ($warm:ident: $($case:ident)+) => {
        $(
            #[tokio::test]
            async fn $case() {
                super::$case($warm().await).await;
            }
        )+
    };
}
use on_a_store;

async fn submit_claim_renew_and_complete_are_one_call_each(world: World<impl Wire>) {
    assert_eq!(world.calls(world.submit(1)).await, 1, "to submit");
    let (calls, tasks) = world.calls_for(world.claim(1)).await;
    assert_eq!(calls, 1, "to claim");
    assert_eq!(world.calls(world.renew(&tasks[0])).await, 1, "to renew");
    assert_eq!(world.calls(world.complete(&tasks[0])).await, 1, "to complete");
}

async fn a_batch_is_claimed_with_one_call(world: World<impl Wire>) {
    world.submit(20).await;
    assert_eq!(world.calls(world.claim(8)).await, 1);
}

async fn a_batch_under_a_quota_is_claimed_with_four_calls_at_most(world: World<impl Wire>) {
    let policy = Policy {
        quota_policy_id: Some(world.quota().await),
        ..Policy::default()
    };
    let calls = world.calls_to_claim_under(policy).await;
    assert!(calls <= 4, "{calls:?}");
}

async fn a_batch_under_a_budget_is_claimed_with_four_calls_at_most(world: World<impl Wire>) {
    let policy = Policy {
        budget_ids: [world.budget().await].into(),
        ..Policy::default()
    };
    let calls = world.calls_to_claim_under(policy).await;
    assert!(calls <= 4, "{calls:?}");
}

async fn sixteen_callers_at_once_share_a_call(world: World<impl Wire>) {
    assert_eq!(world.calls(world.submit(16)).await, 1, "to submit");
    let (calls, tasks) = world.calls_for(world.claim(16)).await;
    assert_eq!(calls, 1, "to claim");
    let renewals = join_all(tasks.iter().map(|task| world.renew(task)));
    assert_eq!(world.calls(renewals).await, 1, "to renew");
    let ends = join_all(tasks.iter().map(|task| world.complete(task)));
    assert_eq!(world.calls(ends).await, 1, "to complete");
}

async fn steps_are_one_call_and_with_what_they_cost_three(world: World<impl Wire>) {
    let budget_id = world.budget().await;
    world.submit(1).await;
    let task = world.claim(1).await.remove(0);
    world.record(&task, vec![costing("warm", budget_id)]).await;
    let plain = vec![done("a"), done("b")];
    assert_eq!(world.calls(world.record(&task, plain)).await, 1, "to record");
    let charged = vec![costing("c", budget_id), costing("d", budget_id)];
    let (calls, recorded) = world.calls_for(world.record(&task, charged)).await;
    assert_eq!(calls, 3, "to record, to charge and ask, and to settle");
    assert_eq!(recorded.budgets.len(), 1);
}

async fn the_steps_of_a_round_are_read_with_one_call(world: World<impl Wire>) {
    world.submit(8).await;
    let tasks = world.claim(8).await;
    for task in &tasks {
        world.record(task, vec![done("a"), done("b")]).await;
        world.release(task).await;
    }
    let (calls, tasks) = world.calls_for(world.claim(8)).await;
    assert_eq!(calls, 2, "to claim, and to read what was done");
    assert!(tasks.iter().all(|task| task.journal.as_ref().unwrap().steps.len() == 2));
}

async fn waiting_for_a_signal_and_going_on_with_it_are_five_calls_at_most(world: World<impl Wire>) {
    world.submit(2).await;
    let tasks = world.claim(2).await;
    // The keys that tokens are signed with are asked for once.
    let first = world.wait(&tasks[0]).await;
    world.signal(&tasks[0], &first).await;
    world.complete(&world.claim(1).await[0]).await;
    let (suspended, waitpoint) = world.calls_for(world.wait(&tasks[1])).await;
    assert_eq!(suspended, 1, "to suspend");
    let signalled = world.calls(world.signal(&tasks[1], &waitpoint)).await;
    let (claimed, next) = world.calls_for(world.claim(1)).await;
    let calls = suspended + signalled + claimed;
    assert!(calls <= 5, "{calls:?}");
    let steps = &next[0].journal.as_ref().unwrap().steps;
    assert_eq!(steps[0].signals.len(), 1, "with what was said");
}
