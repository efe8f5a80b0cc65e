//! What is recorded and charged, against what the ledger says was done.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::{Duration, Instant};

use ff_core::id::BudgetId;
use ff_core::name::Dimension;
use ff_core::record::StepState;
use ff_sdk::run::Step;
use ff_sdk::{Client, Fabric, Run};

use super::agent::{AT_ONCE, STEPS, TOKENS};
use super::ledger::{Ledger, Line};

/// How long the last costs may be on their way: whoever reported them was killed, and the server goes on alone.
const CHARGED_WITHIN: Duration = Duration::from_secs(30);

/// The reckoning.
pub(crate) struct Verdict<'a> {
    ledger: &'a Ledger,
    killed: usize,
    budget: BudgetId,
    /// Steps that are recorded, and what they cost.
    recorded: usize,
    cost: u64,
    /// Bodies that ran and are not recorded.
    unrecorded: Vec<Line>,
    broken: Vec<String>,
}

impl<'a> Verdict<'a> {
    pub(crate) fn of(ledger: &'a Ledger, killed: usize, budget: BudgetId) -> Self {
        Self {
            ledger,
            killed,
            budget,
            recorded: 0,
            cost: 0,
            unrecorded: Vec::new(),
            broken: Vec::new(),
        }
    }

    /// An agent that has ended.
    pub(crate) async fn judge(&mut self, run: &Run<u64>, result: u64) {
        let id = run.id().to_string();
        let mut done: BTreeMap<String, Vec<Line>> = BTreeMap::new();
        for line in self.ledger.lines().into_iter().filter(|line| line.execution == id) {
            done.entry(line.key.clone()).or_default().push(line);
        }
        let steps = run.steps().with_outputs().await.unwrap();
        let keys: Vec<String> = steps.iter().map(|step| step.view.key.to_string()).collect();
        let expected: Vec<String> = (0..STEPS).map(|number| format!("turn#{number}")).collect();
        if keys != expected {
            self.broken.push(format!("{id}: {keys:?} are recorded"));
        }
        let strangers: Vec<&String> = done.keys().filter(|key| !keys.contains(key)).collect();
        if !strangers.is_empty() {
            self.broken
                .push(format!("{id}: {strangers:?} ran and are not recorded"));
        }
        let cost_before = self.cost;
        for step in &steps {
            let lines = done.remove(step.view.key.as_str()).unwrap_or_default();
            self.judge_step(&id, step, lines);
        }
        let cost = self.cost - cost_before;
        if result != cost {
            self.broken.push(format!("{id} gave {result}, and its steps {cost}"));
        }
    }

    /// The last body of a step is the one that is recorded: had one run after the record, it would be another one.
    fn judge_step(&mut self, id: &str, step: &Step, mut lines: Vec<Line>) {
        let (last, gave) = (lines.pop(), step.output::<u64>().ok());
        let is_last = last.is_some() && last.as_ref().map(|line| line.tokens) == gave;
        if step.view.state != StepState::Done || !is_last {
            let key = &step.view.key;
            self.broken.push(format!(
                "{id}: step {key} is recorded with {gave:?}, and {last:?} ran last, after {lines:?}"
            ));
        }
        let usage = step.view.usage.iter().filter(|usage| usage.budget_id == self.budget);
        let charged: u64 = usage.flat_map(|usage| usage.deltas.values()).sum();
        if Some(charged) != gave {
            let key = &step.view.key;
            self.broken
                .push(format!("{id}: step {key} gave {gave:?} and is charged {charged}"));
        }
        self.recorded += 1;
        self.cost += charged;
        self.unrecorded.extend(lines);
    }

    /// Whatever ran without being recorded was running in a worker when that was killed: one body of an agent at most.
    fn judge_unrecorded(&mut self) {
        let lost: BTreeSet<_> = self
            .unrecorded
            .iter()
            .map(|line| (line.worker, &line.execution))
            .collect();
        let of_the_living = self.unrecorded.iter().filter(|line| line.worker == self.killed).count();
        let bound = self.killed * AT_ONCE;
        if lost.len() < self.unrecorded.len() || of_the_living > 0 || self.unrecorded.len() > bound {
            self.broken
                .push(format!("more ran again than was cut off: {:?}", self.unrecorded));
        }
    }

    /// The budget was charged for what is recorded, and for nothing else.
    pub(crate) async fn judge_budget(&mut self, client: &Client) {
        let begun = Instant::now();
        let mut spent = spent(client, self.budget).await;
        while spent != self.cost && begun.elapsed() < CHARGED_WITHIN {
            tokio::time::sleep(Duration::from_millis(20)).await;
            spent = self::spent(client, self.budget).await;
        }
        if spent != self.cost {
            let cost = self.cost;
            self.broken
                .push(format!("{cost} are recorded as costs, {spent} charged"));
        }
    }

    pub(crate) fn assert(mut self, seed: u64) {
        self.judge_unrecorded();
        let (count, broken) = (self.broken.len(), self.broken.join("\n"));
        assert!(
            count == 0,
            "FF_TEST_SEED={seed}: {count} promises are broken:\n{broken}"
        );
    }
}

impl fmt::Display for Verdict<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (recorded, lost) = (self.recorded, self.unrecorded.len());
        write!(
            f,
            "{recorded} steps recorded, {lost} bodies cut off, {} charged",
            self.cost
        )
    }
}

async fn spent(client: &Client, budget: BudgetId) -> u64 {
    let view = client.get_budget(budget).await.unwrap();
    let tokens = view.dimensions.get(&Dimension::parse(TOKENS).unwrap());
    tokens.map_or(0, |tokens| tokens.usage)
}
