//! Running seeds.

use std::hash::{BuildHasher, RandomState};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::invariants::Violation;
use crate::store::Sabotage;
use crate::tally::Tally;
use crate::trace::Keep;
use crate::world::World;

/// Lines of the trace that a failing seed is shown with.
const LINES_SHOWN: usize = 120;
/// Bases are below this, so that a person can copy one.
const BASES: u64 = 1_000_000_000;

/// How a seed is run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// How much is written down.
    pub keep: Keep,
    /// A promise that is broken on purpose.
    pub sabotage: Option<Sabotage>,
}

/// What a seed came to.
#[derive(Clone, Debug)]
pub struct Report {
    /// The seed.
    pub seed: u64,
    /// How often somebody did something.
    pub turns: u64,
    /// What did not hold.
    pub violation: Option<Violation>,
    /// What was exercised.
    pub tally: Tally,
    /// What happened, as far as it was written down.
    pub trace: Vec<String>,
}

/// Runs one seed: a storm of `steps` calls, and then until everything has come to an end.
pub fn run(seed: u64, steps: u64, options: &Options) -> Report {
    World::new(seed, options).play(seed, steps)
}

/// Runs one seed; one that fails is run again with its last lines written down.
pub fn run_and_explain(seed: u64, steps: u64, options: &Options) -> Result<Report, String> {
    let report = run(seed, steps, options);
    if report.violation.is_none() {
        return Ok(report);
    }
    let keep = Keep::Last(LINES_SHOWN);
    Err(explain(&run(seed, steps, &Options { keep, ..*options })))
}

/// A failing seed for a person.
pub fn explain(report: &Report) -> String {
    let Report { seed, trace, .. } = report;
    let broken = report.violation.as_ref().map_or_else(
        || "the second run held: something in it does not follow from the seed".to_owned(),
        ToString::to_string,
    );
    format!(
        "{}\n\nseed {seed} broke: {broken}\n\nrun it again: just sim-seed {seed}",
        trace.join("\n")
    )
}

/// A seed nobody has chosen: the first of some that are run besides the usual ones.
pub fn random_base() -> u64 {
    RandomState::new().hash_one(()) % BASES
}

/// Hands every seed to `work`, on all cores at the same time: each is a world of its own. Ends early once `work` breaks off.
pub fn on_all_cores(seeds: impl Iterator<Item = u64> + Send, work: impl Fn(u64) -> ControlFlow<()> + Sync) {
    let seeds: Vec<u64> = seeds.collect();
    let (next, over) = (AtomicU64::new(0), AtomicBool::new(false));
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    let place = usize::try_from(next.fetch_add(1, Ordering::Relaxed)).unwrap_or(usize::MAX);
                    let Some(seed) = seeds.get(place) else { return };
                    if work(*seed).is_break() {
                        over.store(true, Ordering::Relaxed);
                    }
                }
            });
        }
    });
}
