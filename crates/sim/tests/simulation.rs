//! Many seeds: the invariants hold in all of them, and together they exercise everything.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use ff_sim::coverage;
use ff_sim::run::{Options, run, run_and_explain};
use ff_sim::tally::Tally;
use ff_sim::trace::Keep;

/// Seeds of a run, and calls of the storm of each; `SIM_SEEDS` asks for another number of seeds.
const SEEDS: u64 = 1_000;
const STEPS: u64 = 500;
/// Every seed is a world of its own, so that they run beside each other.
const THREADS: u64 = 2;

fn seeds() -> u64 {
    let asked = std::env::var("SIM_SEEDS").ok().and_then(|text| text.parse().ok());
    asked.unwrap_or(SEEDS)
}

#[test]
fn simulation() {
    let (next, seeds) = (AtomicU64::new(0), seeds());
    let sum = Mutex::new(Tally::default());
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds {
                        return;
                    }
                    match run_and_explain(seed, STEPS, &Options::default()) {
                        Ok(report) => {
                            assert!(
                                report.tally.steps >= STEPS && report.tally.executions >= 20,
                                "seed {seed} is too small"
                            );
                            sum.lock().unwrap().add(&report.tally);
                        }
                        Err(explanation) => {
                            next.store(seeds, Ordering::Relaxed);
                            panic!("{explanation}");
                        }
                    }
                }
            });
        }
    });
    let sum = sum.into_inner().unwrap();
    println!("{sum}");
    if seeds >= SEEDS {
        let missing = coverage::missing(&sum);
        assert!(missing.is_empty(), "{}", missing.join("\n"));
    }
}

#[test]
fn a_seed_replays_byte_for_byte() {
    for seed in [1, 2, 3] {
        let all = Options {
            keep: Keep::All,
            ..Options::default()
        };
        let (first, second) = (run(seed, STEPS, &all), run(seed, STEPS, &all));
        assert_eq!(first.tally, second.tally);
        assert_eq!(first.trace.join("\n"), second.trace.join("\n"));
    }
}
