//! A claim costs the same however much work waits that the worker cannot run.

use std::time::{Duration, Instant};

use super::build::Store;
use super::reserve_match::requiring;

/// Distinct capability sets that wait; a store may look at the head of each.
const SETS: usize = 100;
/// How many calls are measured.
const CALLS: usize = 41;
/// A call that visits every waiting execution costs a hundred times as much.
const FACTOR: u64 = 4;
/// Timing noise that proves nothing.
const NOISE: Duration = Duration::from_millis(2);

pub(super) async fn ten_thousand_executions_nobody_can_run_cost_a_claim_nothing(store: &Store<'_>) {
    unmatched(store, 1).await;
    let few = cost(store).await;
    unmatched(store, 99).await;
    let many = cost(store).await;
    assert!(
        many <= few * FACTOR,
        "a claim cost {few} with {SETS} unmatched executions and {many} with {}",
        SETS * 100
    );
}

async fn unmatched(store: &Store<'_>, per_set: usize) {
    let command = |set: usize| requiring(store.command(), &[&format!("c{set}")]);
    let commands = (0..SETS * per_set).map(|n| (store.id(), command(n % SETS))).collect();
    store.submit_all(commands).await;
}

/// Entries visited by the measured calls, or else the median time of one in nanoseconds, noise included.
async fn cost(store: &Store<'_>) -> u64 {
    let visited = store.harness().work_counter();
    let mut times = Vec::new();
    for _ in 0..CALLS {
        store.submit(store.command()).await;
        let ask = store.ask(1);
        let start = Instant::now();
        assert_eq!(store.reserve(ask).await.len(), 1);
        times.push(start.elapsed());
    }
    times.sort_unstable();
    match (visited, store.harness().work_counter()) {
        (Some(before), Some(after)) => after - before,
        _ => u64::try_from((times[CALLS / 2] + NOISE).as_nanos()).unwrap_or(u64::MAX),
    }
}
