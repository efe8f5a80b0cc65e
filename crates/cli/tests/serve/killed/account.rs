//! One execution: what the server says, against what its clients were told.

use std::collections::{BTreeMap, BTreeSet};

use ff_core::frame::FrameId;
use ff_core::id::{BudgetId, SignalId};
use ff_core::state::PublicState;

use super::found::Found;
use super::told::{Ended, Ending, Run};
use super::verdict::Tally;

/// The reckoning about one execution.
pub(crate) struct Account<'a> {
    found: &'a Found,
    runs: &'a [Run],
    signals: &'a [SignalId],
    pub(crate) tally: Tally,
    pub(crate) broken: Vec<String>,
}

impl<'a> Account<'a> {
    pub(crate) fn new(found: &'a Found, runs: &'a [Run], signals: &'a [SignalId]) -> Self {
        let tally = Tally {
            executions: 1,
            runs: runs.len(),
            reclaims: found.view.counts.reclaims,
            ..Tally::default()
        };
        Self {
            found,
            runs,
            signals,
            tally,
            broken: Vec::new(),
        }
    }

    /// Compares everything.
    pub(crate) fn settle(&mut self, budget_id: BudgetId) {
        self.one_lease_at_a_time();
        self.one_end();
        self.steps();
        (0..self.found.view.attempt_count).for_each(|index| self.frames_of(index));
        self.usage(budget_id);
        self.each_signal_once();
        self.retries();
    }

    fn breaks(&mut self, what: impl std::fmt::Display) {
        let (id, runs) = (self.found.view.execution_id, self.runs);
        self.broken.push(format!("{id}: {what}; {runs:?}"));
    }

    fn one_lease_at_a_time(&mut self) {
        let epochs: BTreeSet<u64> = self.runs.iter().map(|run| run.lease_epoch).collect();
        if epochs.len() < self.runs.len() {
            self.breaks("a lease was handed out twice");
        }
    }

    /// Every execution was completed by one of its runs, whose result is the one that is kept.
    fn one_end(&mut self) {
        let completed = |run: &'a Run| Some((run.lease_epoch, run.completion()?));
        let completions: Vec<_> = self.runs.iter().filter_map(completed).collect();
        let (state, result) = (self.found.view.state.public_state, self.found.result.as_ref());
        let stands = matches!(completions[..], [(epoch, told)]
            if state == PublicState::Completed && epoch == self.found.view.lease_epoch && Some(told) == result);
        if !stands {
            self.breaks(format_args!(
                "it is {state:?} with {result:?}, and {completions:?} were acknowledged"
            ));
        }
    }

    /// What was acknowledged is there, what was refused may be; the steps of one call are there together or not at all.
    fn steps(&mut self) {
        let stored: BTreeSet<u64> = self.found.steps.iter().copied().collect();
        if stored.len() < self.found.steps.len() {
            self.breaks(format_args!("steps stand twice: {:?}", self.found.steps));
        }
        let mut said = BTreeSet::new();
        for recorded in self.runs.iter().flat_map(|run| &run.steps) {
            let there = recorded
                .numbers
                .iter()
                .filter(|number| stored.contains(*number))
                .count();
            let (all, none) = (there == recorded.numbers.len(), there == 0);
            match recorded.told {
                Ok(()) if all => self.tally.steps += there,
                Err(_) if none => self.tally.steps_refused += recorded.numbers.len(),
                Err(_) if all => self.tally.steps_refused_and_there += there,
                told => self.breaks(format_args!(
                    "{there} of the steps {recorded:?} are there, told {told:?}"
                )),
            }
            said.extend(&recorded.numbers);
        }
        if let Some(number) = stored.difference(&said).next() {
            self.breaks(format_args!("nobody recorded step {number}"));
        }
    }

    /// What was acknowledged is there, once and in order; what was refused may be there, once.
    fn frames_of(&mut self, attempt_index: u32) {
        let stored = &self.found.frames[attempt_index as usize];
        if !stored.is_sorted_by(|one, next| one.0 < next.0 && one.1 < next.1) {
            self.breaks(format_args!("frames stand twice or out of order: {stored:?}"));
        }
        let runs = self.runs.iter().filter(|run| run.attempt_index == attempt_index);
        let said: BTreeMap<u64, _> = runs
            .flat_map(|run| &run.frames)
            .map(|line| (line.number, line.told))
            .collect();
        let by_number: BTreeMap<u64, FrameId> = stored.iter().map(|(id, number)| (*number, *id)).collect();
        for (number, told) in &said {
            match (told, by_number.get(number)) {
                (Ok(told), Some(id)) if told == id => self.tally.frames += 1,
                (Err(_), None) => self.tally.frames_refused += 1,
                (Err(_), Some(_)) => self.tally.frames_refused_and_there += 1,
                (Ok(told), found) => self.breaks(format_args!("frame {number} was {told} and is {found:?}")),
            }
        }
        if let Some(number) = by_number.keys().find(|number| !said.contains_key(number)) {
            self.breaks(format_args!("nobody said frame {number} in attempt {attempt_index}"));
        }
    }

    fn usage(&mut self, budget_id: BudgetId) {
        let reports = || self.runs.iter().flat_map(|run| &run.usage);
        let acknowledged: u64 = reports()
            .filter(|spent| spent.told.is_ok())
            .map(|spent| spent.amount)
            .sum();
        let said: u64 = reports().map(|spent| spent.amount).sum();
        let spent = self.found.spent(budget_id);
        if spent < acknowledged || spent > said {
            self.breaks(format_args!(
                "{spent} are spent; {said} were reported, {acknowledged} acknowledged"
            ));
        }
        self.tally.reports += reports().filter(|spent| spent.told.is_ok()).count();
        self.tally.reports_refused += reports().filter(|spent| spent.told.is_err()).count();
        self.tally.spent += spent;
        self.tally.spent_though_refused += spent.saturating_sub(acknowledged);
    }

    /// Whatever waited was sent one signal, and went on with it.
    fn each_signal_once(&mut self) {
        let (stored, sent) = (&self.found.signals, self.signals);
        let handed_on = self
            .runs
            .iter()
            .map(|run| &run.signals)
            .filter(|signals| !signals.is_empty());
        let handed_on: BTreeSet<_> = handed_on.collect();
        if stored != sent || handed_on.iter().any(|signals| *signals != sent) || sent.len() != handed_on.len() {
            self.breaks(format_args!(
                "{sent:?} were sent, {stored:?} are kept, {handed_on:?} were handed on"
            ));
        }
        self.tally.signals += sent.len();
    }

    fn retries(&mut self) {
        let ends = self.runs.iter().filter_map(|run| run.end.as_ref());
        let failures = ends.filter(|end| end.how == Ending::Fail);
        let (acknowledged, refused): (Vec<&Ended>, Vec<&Ended>) = failures.partition(|end| end.told.is_ok());
        let retries = self.found.view.counts.retries as usize;
        if !(acknowledged.len()..=acknowledged.len() + refused.len()).contains(&retries) {
            self.breaks(format_args!("it was retried {retries} times"));
        }
        self.tally.retries += retries;
    }
}
