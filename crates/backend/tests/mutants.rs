//! The suite notices every promise that is broken: each flawed store fails at least one case.

mod support;

use std::panic::AssertUnwindSafe;

use ff_backend::conformance::{Case, cases};
use ff_backend::memory::Flaw;
use futures::FutureExt;
use support::make;

#[test]
fn every_flaw_is_noticed_and_the_honest_store_passes() {
    std::panic::set_hook(Box::new(|_| {}));
    let honest = failing(None);
    let noticed: Vec<(Flaw, Vec<String>)> = Flaw::ALL.iter().map(|flaw| (*flaw, failing(Some(*flaw)))).collect();
    drop(std::panic::take_hook());
    print_table(&noticed);
    assert!(honest.is_empty(), "the honest store fails {honest:?}");
    let survivors: Vec<Flaw> = noticed.iter().filter(|(_, by)| by.is_empty()).map(|(flaw, _)| *flaw).collect();
    assert!(survivors.is_empty(), "nobody noticed {survivors:?}");
}

/// The cases a store with this flaw fails.
fn failing(flaw: Option<Flaw>) -> Vec<String> {
    let fails = |case: &Case| !passes(case, flaw);
    cases().into_iter().filter(fails).map(|case| format!("{}::{}", case.subject, case.name)).collect()
}

fn passes(case: &Case, flaw: Option<Flaw>) -> bool {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    // A case that waits for a hint waits in vain: paused time jumps ahead instead.
    let runtime = runtime.worker_threads(1).enable_time().build().expect("a runtime");
    runtime.block_on(async {
        let harness = make(flaw);
        AssertUnwindSafe((case.run)(&harness)).catch_unwind().await.is_ok()
    })
}

fn print_table(noticed: &[(Flaw, Vec<String>)]) {
    for (flaw, by) in noticed {
        println!("{:<28} → {:>3}: {}", format!("{flaw:?}"), by.len(), by.join(", "));
    }
}
