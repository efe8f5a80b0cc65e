//! Runs seeds until stopped, some seeds, or one seed with everything that happened.

use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, bail};
use ff_sim::coverage::missing;
use ff_sim::run::{Options, explain, on_all_cores, random_base, run, run_and_explain};
use ff_sim::tally::Tally;
use ff_sim::trace::Keep;

/// Calls of one storm.
const STEPS: u64 = 500;
/// Seeds between two reports.
const SEEDS_BETWEEN_REPORTS: u64 = 1_000;

const USAGE: &str = "sim [--seed N] [--from N] [--count N] [--steps N]";

/// What the command line says.
struct Arguments {
    seed: Option<u64>,
    /// Absent: from a random one on.
    from: Option<u64>,
    /// Runs this many seeds and says what each one broke, instead of stopping at the first.
    count: Option<u64>,
    steps: u64,
}

fn arguments() -> Result<Arguments> {
    let mut arguments = Arguments {
        seed: None,
        from: None,
        count: None,
        steps: STEPS,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut number = || -> Result<u64> {
            let value = words.next().with_context(|| format!("{word} needs a number"))?;
            value.parse().with_context(|| format!("{word} {value}"))
        };
        match word.as_str() {
            "--seed" => arguments.seed = Some(number()?),
            "--from" => arguments.from = Some(number()?),
            "--count" => arguments.count = Some(number()?),
            "--steps" => arguments.steps = number()?,
            _ => bail!("{word} is not known; {USAGE}"),
        }
    }
    Ok(arguments)
}

fn main() -> Result<()> {
    let arguments = arguments()?;
    let from = arguments.from.unwrap_or_else(random_base);
    match (arguments.seed, arguments.count) {
        (Some(seed), _) => look_at(seed, arguments.steps),
        (None, Some(count)) => survey(from, count, arguments.steps),
        (None, None) => go_on(from, arguments.steps),
    }
}

/// Runs one seed with everything that happened.
#[expect(clippy::print_stdout, reason = "what it prints is what it is run for")]
fn look_at(seed: u64, steps: u64) -> Result<()> {
    let options = Options {
        keep: Keep::All,
        ..Options::default()
    };
    let report = run(seed, steps, &options);
    if report.violation.is_some() {
        println!("{}", explain(&report));
        bail!("seed {seed} does not hold");
    }
    println!("{}\n\n{}seed {seed} holds", report.trace.join("\n"), report.tally);
    Ok(())
}

/// Runs some seeds and says which ones do not hold.
#[expect(clippy::print_stdout, reason = "what it prints is what it is run for")]
fn survey(from: u64, count: u64, steps: u64) -> Result<()> {
    println!("{count} seeds from {from} on");
    let sum = Mutex::new((Tally::default(), 0));
    on_all_cores(from..from + count, |seed| {
        let report = run(seed, steps, &Options::default());
        let mut sum = sum.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(violation) = &report.violation {
            sum.1 += 1;
            println!("seed {seed}: {violation}");
        }
        sum.0.add(&report.tally);
        ControlFlow::Continue(())
    });
    let (sum, broken) = sum.into_inner().unwrap_or_else(PoisonError::into_inner);
    println!("{sum}");
    for left_out in missing(&sum) {
        println!("left out: {left_out}");
    }
    if broken > 0 {
        bail!("{broken} of {count} seeds do not hold");
    }
    Ok(())
}

/// Runs seeds until one does not hold.
#[expect(clippy::print_stdout, reason = "what it prints is what it is run for")]
fn go_on(from: u64, steps: u64) -> Result<()> {
    for first in (from..).step_by(usize::try_from(SEEDS_BETWEEN_REPORTS)?) {
        let broken = Mutex::new(None);
        on_all_cores(first..first + SEEDS_BETWEEN_REPORTS, |seed| {
            match run_and_explain(seed, steps, &Options::default()) {
                Ok(_) => ControlFlow::Continue(()),
                Err(explanation) => {
                    *broken.lock().unwrap_or_else(PoisonError::into_inner) = Some((seed, explanation));
                    ControlFlow::Break(())
                }
            }
        });
        if let Some((seed, explanation)) = broken.into_inner().unwrap_or_else(PoisonError::into_inner) {
            println!("{explanation}");
            bail!("seed {seed} does not hold");
        }
        println!("seeds {from} to {} hold", first + SEEDS_BETWEEN_REPORTS - 1);
    }
    Ok(())
}
