//! The suite notices every promise that is broken: each dishonest store fails at least one case.

mod ledger;
mod liar;
mod store;

use std::sync::Mutex;
use std::time::Duration;

use ff_backend::conformance::{Case, cases};
use store::{Mutation, make};

/// A case that takes longer has failed.
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn every_broken_promise_is_noticed_and_the_honest_store_is_not_accused() {
    std::panic::set_hook(Box::new(|_| {}));
    let accused = failing(Mutation::None);
    let noticed = failing_each(Mutation::all());
    drop(std::panic::take_hook());
    let width = noticed
        .iter()
        .map(|(mutation, _)| mutation.to_string().len())
        .max()
        .unwrap_or(0);
    for (mutation, by) in &noticed {
        println!("{mutation:<width$} → {:>3} {}", by.len(), by.join(" "));
    }
    assert!(accused.is_empty(), "the honest store fails {accused:?}");
    let survivors: Vec<&Mutation> = noticed
        .iter()
        .filter(|(_, by)| by.is_empty())
        .map(|(mutation, _)| mutation)
        .collect();
    assert!(survivors.is_empty(), "nobody noticed {survivors:?}");
}

/// The cases each of these stores fails, in their order.
fn failing_each(mutations: Vec<Mutation>) -> Vec<(Mutation, Vec<String>)> {
    let left = Mutex::new(mutations.into_iter().enumerate());
    let found = Mutex::new(Vec::new());
    let work = || {
        while let Some((n, mutation)) = { left.lock().expect("no panic").next() } {
            let by = failing(mutation);
            found.lock().expect("no panic").push((n, mutation, by));
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    let mut found = found.into_inner().expect("no panic");
    found.sort_by_key(|(n, ..)| *n);
    found.into_iter().map(|(_, mutation, by)| (mutation, by)).collect()
}

/// The cases such a store fails. The one that takes long is tried only where no other notices.
fn failing(mutation: Mutation) -> Vec<String> {
    let (long, short): (Vec<Case>, Vec<Case>) = cases().into_iter().partition(|case| case.subject == "reserve_cost");
    let failing = |cases: Vec<Case>| {
        let failing = cases.into_iter().filter(|case| !passes(case, mutation));
        failing
            .map(|case| format!("{}::{}", case.subject, case.name))
            .collect::<Vec<_>>()
    };
    let noticed = failing(short);
    if noticed.is_empty() { failing(long) } else { noticed }
}

fn passes(case: &Case, mutation: Mutation) -> bool {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_time()
        .build();
    let run = case.run;
    let tried =
        async move { tokio::time::timeout(PATIENCE, tokio::spawn(async move { run(&make(mutation)).await })).await };
    matches!(runtime.expect("a runtime").block_on(tried), Ok(Ok(())))
}
