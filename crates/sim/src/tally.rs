//! What a run exercised: how often each operation was accepted, what was answered, which faults struck.

use std::collections::BTreeMap;
use std::fmt;

use ff_core::error::Code;

use crate::store::Fault;

/// Names an operation of `trait Fabric`.
pub type Operation = &'static str;

/// Counts over one run, or over many.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Calls made.
    pub steps: u64,
    /// Executions that were accepted.
    pub executions: u64,
    /// Answers by operation and by what they said.
    pub outcomes: BTreeMap<(Operation, &'static str), u64>,
    /// Refusals by operation and code.
    pub refusals: BTreeMap<(Operation, Code), u64>,
    /// Calls whose answer never came.
    pub unanswered: u64,
    /// Calls repeated with the same identity, and answered as the first time.
    pub repeats: u64,
    /// Faults by kind.
    pub faults: BTreeMap<Fault, u64>,
}

impl Tally {
    /// An operation was accepted and said this.
    pub fn accept(&mut self, operation: Operation, outcome: &'static str) {
        *self.outcomes.entry((operation, outcome)).or_default() += 1;
    }

    /// An operation was refused.
    pub fn refuse(&mut self, operation: Operation, code: Code) {
        *self.refusals.entry((operation, code)).or_default() += 1;
    }

    /// A fault struck.
    pub fn strike(&mut self, fault: Fault) {
        *self.faults.entry(fault).or_default() += 1;
    }

    /// How often an operation was accepted.
    pub fn accepted(&self, operation: Operation) -> u64 {
        let of_operation = |((of, _), count): (&(Operation, &str), &u64)| if *of == operation { *count } else { 0 };
        self.outcomes.iter().map(of_operation).sum()
    }

    /// How often anything was refused with this code.
    pub fn refused(&self, code: Code) -> u64 {
        let with_code = |((_, with), count): (&(Operation, Code), &u64)| if *with == code { *count } else { 0 };
        self.refusals.iter().map(with_code).sum()
    }

    /// How often a fault struck.
    pub fn struck(&self, fault: Fault) -> u64 {
        self.faults.get(&fault).copied().unwrap_or(0)
    }

    /// Adds another run.
    pub fn add(&mut self, other: &Tally) {
        self.steps += other.steps;
        self.executions += other.executions;
        self.unanswered += other.unanswered;
        self.repeats += other.repeats;
        add_up(&mut self.outcomes, &other.outcomes);
        add_up(&mut self.refusals, &other.refusals);
        add_up(&mut self.faults, &other.faults);
    }
}

fn add_up<K: Ord + Copy>(sum: &mut BTreeMap<K, u64>, other: &BTreeMap<K, u64>) {
    for (key, count) in other {
        *sum.entry(*key).or_default() += count;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tally { steps, executions, .. } = self;
        writeln!(f, "{steps} calls, {executions} executions")?;
        writeln!(
            f,
            "{} repeats agreed, {} calls were never answered",
            self.repeats, self.unanswered
        )?;
        for ((operation, outcome), count) in &self.outcomes {
            writeln!(f, "  {count:>9}  {operation} → {outcome}")?;
        }
        for ((operation, code), count) in &self.refusals {
            writeln!(f, "  {count:>9}  {operation} ✗ {code}")?;
        }
        for (fault, count) in &self.faults {
            writeln!(f, "  {count:>9}  fault {fault:?}")?;
        }
        Ok(())
    }
}
