//! What the server says in the end, against what the clients were told meanwhile.

use std::collections::{BTreeSet, HashMap};
use std::ops::AddAssign;
use std::time::{Duration, Instant};

use ff_core::fabric::On;
use ff_core::id::ExecutionId;
use ff_core::name::Dimension;
use ff_core::view::WaitForEnd;
use ff_sdk::{Fabric, Remote};
use futures::future::join_all;

use super::account::Account;
use super::found::Found;
use super::held::UNITS;
use super::ledger::Ledger;
use super::scene::PATIENCE;
use super::told::Told;
use crate::listed::all_executions;

/// Executions read at once.
const READS: usize = 16;
/// How long one call waits for an end.
const WAIT: ff_core::time::Duration = ff_core::time::Duration::from_secs(1);

/// What was counted.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) executions: usize,
    /// Submissions, completions, reports and signals whose first answer was lost.
    pub(crate) repeated: u64,
    pub(crate) runs: usize,
    pub(crate) retries: usize,
    pub(crate) reclaims: u32,
    pub(crate) steps: usize,
    pub(crate) steps_refused: usize,
    /// As with frames.
    pub(crate) steps_refused_and_there: usize,
    pub(crate) frames: usize,
    pub(crate) frames_refused: usize,
    /// The answer to the call that appended them was lost, and its repetition came when the lease was over.
    pub(crate) frames_refused_and_there: usize,
    pub(crate) reports: usize,
    pub(crate) reports_refused: usize,
    pub(crate) spent: u64,
    pub(crate) spent_though_refused: u64,
    pub(crate) signals: usize,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.executions += other.executions;
        self.repeated += other.repeated;
        self.runs += other.runs;
        self.retries += other.retries;
        self.reclaims += other.reclaims;
        self.steps += other.steps;
        self.steps_refused += other.steps_refused;
        self.steps_refused_and_there += other.steps_refused_and_there;
        self.frames += other.frames;
        self.frames_refused += other.frames_refused;
        self.frames_refused_and_there += other.frames_refused_and_there;
        self.reports += other.reports;
        self.reports_refused += other.reports_refused;
        self.spent += other.spent;
        self.spent_though_refused += other.spent_though_refused;
        self.signals += other.signals;
    }
}

/// The reckoning.
pub(crate) struct Verdict<'a> {
    client: Remote,
    ledger: &'a Ledger,
    pub(crate) tally: Tally,
    pub(crate) broken: Vec<String>,
}

impl<'a> Verdict<'a> {
    pub(crate) fn new(client: Remote, ledger: &'a Ledger) -> Self {
        Self {
            client,
            ledger,
            tally: Tally::default(),
            broken: Vec::new(),
        }
    }

    /// Waits until everything that is there has ended.
    pub(crate) async fn wait_for_ends(&mut self) {
        let begun = Instant::now();
        for some in all_executions(&self.client).await.chunks(READS) {
            let ends = some.iter().map(|view| self.wait_for_end(view.execution_id, begun));
            self.broken.extend(join_all(ends).await.into_iter().flatten());
        }
    }

    async fn wait_for_end(&self, id: ExecutionId, begun: Instant) -> Option<String> {
        loop {
            let wait = On::new(id, WaitForEnd { wait: WAIT });
            match self.client.wait_for_end(wait).await {
                Ok(state) if state.public_state.is_terminal() => return None,
                Ok(state) if begun.elapsed() > PATIENCE => return Some(format!("{id} does not end: {state:?}")),
                Ok(_) => {}
                Err(refusal) => return Some(format!("{id} was listed: {refusal}")),
            }
        }
    }

    /// Compares everything.
    pub(crate) async fn judge(&mut self) {
        let found = self.read().await;
        self.compare(&self.ledger.told(), &found).await;
    }

    /// Everything that is there.
    pub(crate) async fn read(&self) -> Vec<Found> {
        let mut all = Vec::new();
        for some in all_executions(&self.client).await.chunks(READS) {
            let found = some.iter().map(|view| Found::read(&self.client, view.clone()));
            all.extend(join_all(found).await.into_iter().map(Result::unwrap));
        }
        all
    }

    /// Compares what is there with what was told.
    pub(crate) async fn compare(&mut self, told: &Told, found: &[Found]) {
        self.broken.extend(self.ledger.oddities());
        self.tally.repeated = self.ledger.repeated();
        let submitted: BTreeSet<ExecutionId> = told.submitted.iter().map(|submitted| submitted.id).collect();
        let there: BTreeSet<ExecutionId> = found.iter().map(|found| found.view.execution_id).collect();
        for id in submitted.symmetric_difference(&there) {
            let is_lost = submitted.contains(id);
            self.broken.push(format!(
                "{id} is there, or was acknowledged, but not both: lost {is_lost}"
            ));
        }
        let (runs, signals) = (told.runs_by_execution(), told.signals_by_execution());
        for found in found {
            let id = found.view.execution_id;
            let mut account = Account::new(found, of(&runs, id), of(&signals, id));
            account.settle(self.ledger.budget_id);
            self.broken.append(&mut account.broken);
            self.tally += account.tally;
        }
        self.judge_budget().await;
    }

    /// What the attempts recorded arrives at the budget, once.
    async fn judge_budget(&mut self) {
        let units = Dimension::parse(UNITS).unwrap();
        let begun = Instant::now();
        loop {
            let budget = self.client.get_budget(self.ledger.budget_id).await.unwrap();
            let usage = budget.dimensions.get(&units).map_or(0, |dimension| dimension.usage);
            if usage == self.tally.spent {
                return;
            }
            if usage > self.tally.spent || begun.elapsed() > PATIENCE {
                let spent = self.tally.spent;
                self.broken
                    .push(format!("the budget says {usage}, the attempts {spent}"));
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

fn of<T>(lists: &HashMap<ExecutionId, Vec<T>>, id: ExecutionId) -> &[T] {
    lists.get(&id).map_or(&[], Vec::as_slice)
}
