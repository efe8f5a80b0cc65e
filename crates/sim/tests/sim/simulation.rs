//! Many seeds: the invariants hold in all of them, and together they exercise everything.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Mutex;

use ff_sim::coverage;
use ff_sim::run::{Options, on_all_cores, run, run_and_explain};
use ff_sim::tally::Tally;
use ff_sim::trace::Keep;

/// Seeds that are run every time; `SIM_SEEDS` asks for another number of them.
const SEEDS: u64 = 1_000;
/// Seeds that nobody has run with these sources before; `SIM_BASE` asks for others, and `just sim` never ends.
const NEW_SEEDS: u64 = 500;
/// What the worlds are made of.
const SOURCES: [&str; 4] = ["core", "backend", "engine", "sim"];
/// Calls of the storm of each.
const STEPS: u64 = 500;

fn asked(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// A base that every change of the sources moves: new seeds with every commit, and the same ones wherever it is tested.
fn base_of_sources() -> u64 {
    let mut hasher = DefaultHasher::new();
    for name in SOURCES {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name).join("src");
        hash_files(&sources, &mut hasher);
    }
    hasher.finish() % 1_000_000_000
}

fn hash_files(directory: &Path, hasher: &mut DefaultHasher) {
    let entries = std::fs::read_dir(directory).unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort_unstable();
    for path in paths {
        match path.is_dir() {
            true => hash_files(&path, hasher),
            false => std::fs::read(&path).unwrap().hash(hasher),
        }
    }
}

#[test]
fn simulation() {
    let seeds = asked("SIM_SEEDS").unwrap_or(SEEDS);
    let base = asked("SIM_BASE").unwrap_or_else(base_of_sources);
    println!("seeds 0 to {seeds}, and {NEW_SEEDS} from {base} on: SIM_BASE={base} runs the same ones again");
    let sum = Mutex::new(Tally::default());
    let broken = Mutex::new(Vec::new());
    on_all_cores((0..seeds).chain(base..base + NEW_SEEDS), |seed| {
        match run_and_explain(seed, STEPS, &Options::default()) {
            Ok(report) if report.tally.steps < STEPS || report.tally.executions < 20 => {
                broken.lock().unwrap().push(format!("seed {seed} is too small"));
                ControlFlow::Break(())
            }
            Ok(report) => {
                sum.lock().unwrap().add(&report.tally);
                ControlFlow::Continue(())
            }
            Err(explanation) => {
                broken.lock().unwrap().push(explanation);
                ControlFlow::Break(())
            }
        }
    });
    let broken = broken.into_inner().unwrap();
    assert!(broken.is_empty(), "{}", broken.join("\n\n"));
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
