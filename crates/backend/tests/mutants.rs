//! The suite notices every promise that is broken: each flawed store fails at least one case.

mod support;

use ff_backend::conformance::{Case, cases};
use ff_backend::memory::Flaw;
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
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_time().build();
    let run = case.run;
    let tried = async move { tokio::spawn(async move { run(&make(flaw)).await }).await };
    runtime.expect("a runtime").block_on(tried).is_ok()
}

fn print_table(noticed: &[(Flaw, Vec<String>)]) {
    for (flaw, by) in noticed {
        println!("{:<28} → {:>3}: {}", format!("{flaw:?}"), by.len(), by.join(", "));
    }
}
