//! The suite notices every promise that is broken: each dishonest store fails at least one case.

mod by_hand;
mod clock;
mod commits;
mod due;
mod entries;
mod feeds;
mod filters;
mod frames;
mod hints;
mod ledger;
mod ledger_steps;
mod liar;
mod listings;
mod loads;
mod payloads;
mod ranges;
mod refusals;
mod reservations;
mod settings;
mod versions;

use std::sync::Mutex;
use std::time::Duration;

use ff_backend::conformance::{Case, cases};
use liar::Mutant;

/// A case that takes longer has failed.
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn every_broken_promise_is_noticed_and_the_honest_store_is_not_accused() {
    std::panic::set_hook(Box::new(|_| {}));
    let accused = failing(&Mutant::honest());
    let noticed = failing_each(mutants());
    drop(std::panic::take_hook());
    let width = noticed.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, by) in &noticed {
        println!("{name:<width$} → {:>3} {}", by.len(), by.join(" "));
    }
    assert!(accused.is_empty(), "the honest store fails {accused:?}");
    let survivors: Vec<&String> = noticed
        .iter()
        .filter(|(_, by)| by.is_empty())
        .map(|(name, _)| name)
        .collect();
    assert!(survivors.is_empty(), "nobody noticed {survivors:?}");
}

/// Everything that can be wrong.
fn mutants() -> Vec<Mutant> {
    let subjects = [
        by_hand::mutants(),
        clock::mutants(),
        commits::mutants(),
        due::mutants(),
        entries::mutants(),
        feeds::mutants(),
        filters::mutants(),
        frames::mutants(),
        hints::mutants(),
        ledger::mutants(),
        ledger_steps::mutants(),
        listings::mutants(),
        loads::mutants(),
        payloads::mutants(),
        ranges::mutants(),
        refusals::mutants(),
        reservations::mutants(),
        settings::mutants(),
        versions::mutants(),
    ];
    subjects.concat()
}

/// The names of these stores and the cases each of them fails, in their order.
fn failing_each(mutants: Vec<Mutant>) -> Vec<(String, Vec<String>)> {
    let left = Mutex::new(mutants.into_iter().enumerate());
    let found = Mutex::new(Vec::new());
    let work = || {
        while let Some((n, mutant)) = { left.lock().expect("no panic").next() } {
            let by = failing(&mutant);
            found.lock().expect("no panic").push((n, mutant.name, by));
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    let mut found = found.into_inner().expect("no panic");
    found.sort_by_key(|(n, ..)| *n);
    found.into_iter().map(|(_, name, by)| (name, by)).collect()
}

/// Subjects whose cases take long.
const LONG: [&str; 5] = ["reserve_cost", "ledger", "between", "budget_model", "quota_model"];

/// The cases such a store fails. Those that take long are tried only where no other notices.
fn failing(mutant: &Mutant) -> Vec<String> {
    let is_long = |case: &Case| LONG.contains(&case.subject);
    let (long, short): (Vec<Case>, Vec<Case>) = cases().into_iter().partition(is_long);
    let failing = |cases: Vec<Case>| {
        let failing = cases.into_iter().filter(|case| !passes(case, mutant));
        failing
            .map(|case| format!("{}::{}", case.subject, case.name))
            .collect::<Vec<_>>()
    };
    let noticed = failing(short);
    if noticed.is_empty() { failing(long) } else { noticed }
}

fn passes(case: &Case, mutant: &Mutant) -> bool {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_time()
        .build();
    let (run, harness) = (case.run, mutant.harness());
    let tried = async move { tokio::time::timeout(PATIENCE, tokio::spawn(async move { run(&harness).await })).await };
    matches!(runtime.expect("a runtime").block_on(tried), Ok(Ok(())))
}
