//! Budgets: each call is the function of the same name in [`ff_core::machine::budget`].

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use ff_core::command::budget::{BudgetView, CreateBudget, Reported};
use ff_core::error::Rejection;
use ff_core::id::{BudgetId, EffectId};
use ff_core::limits::PAGE_MAX;
use ff_core::machine::budget;
use ff_core::machine::budget::{Remember, UsageReport};
use ff_core::name::Namespace;
use ff_core::record::{Budget, Cause, UsageIdentity};
use ff_core::time::Timestamp;

use super::flaw::Flaw;
use super::store::Store;
use crate::budget::{BudgetAnswer as Answer, BudgetCall as Call, BudgetReply};
use crate::due::DueKey;
use crate::hint::Hint;

/// Usage reports whose repetition is recognised, until their moment.
#[derive(Clone, Default)]
pub(super) struct UsageSeen {
    by: BTreeMap<(BudgetId, UsageIdentity), Option<EffectId>>,
    by_time: BTreeSet<(Timestamp, BudgetId, UsageIdentity)>,
}

impl UsageSeen {
    /// The effects that were counted under the names of a report.
    fn of(&mut self, budget_id: BudgetId, report: &UsageReport, now: Timestamp) -> Vec<Option<EffectId>> {
        while let Some((_, budget_id, identity)) = self.by_time.first().filter(|(at, ..)| at.has_come(now)).cloned() {
            self.by_time.pop_first();
            self.by.remove(&(budget_id, identity));
        }
        let names = report.names().map(|(identity, _)| (budget_id, identity));
        names.filter_map(|name| self.by.get(&name).copied()).collect()
    }

    fn remember(&mut self, budget_id: BudgetId, remember: Remember) {
        let Remember {
            identity,
            effect_id,
            until,
        } = remember;
        self.by_time.insert((until, budget_id, identity.clone()));
        self.by.insert((budget_id, identity), effect_id);
    }
}

impl Store {
    /// One atomic step of a budget.
    pub(super) fn budget(&mut self, call: Call) -> BudgetReply {
        let now = self.now;
        BudgetReply {
            now,
            answer: self.answer_budget(call, now),
        }
    }

    fn answer_budget(&mut self, call: Call, now: Timestamp) -> Result<Answer, Rejection> {
        match call {
            Call::Create { budget_id, command } => self.create_budget(budget_id, &command),
            Call::Get(id) => self.change_budget(id, |budget| Ok(Answer::Budget(Box::new(budget::view(budget, now))))),
            Call::Update { budget_id, command } => self.change_budget(budget_id, |budget| {
                budget::update_limits(budget, &command, now).map(Answer::Updated)
            }),
            Call::Report { budget_id, report } => self.report_usage(budget_id, &report),
            Call::Reset { budget_id, command } => self.change_budget(budget_id, |budget| {
                budget::reset(budget, &command, now).map(Answer::Reset)
            }),
            Call::Delete(id) => self.change_budget(id, |budget| Ok(Answer::Deleted(budget::delete(budget, now)))),
            Call::List {
                namespace,
                after,
                limit,
            } => Ok(self.list_budgets(&namespace, after, limit)),
            Call::Advance(id) => self.change_budget(id, |budget| Ok(Answer::Work(budget::advance(budget, now)))),
            Call::Stopped { budget_id, began_at } => self.change_budget(budget_id, |budget| {
                budget::stopped(budget, began_at);
                Ok(Answer::Done)
            }),
            Call::Withdrawn { budget_id, generation } => self.change_budget(budget_id, |budget| {
                budget::withdrawn(budget, generation);
                Ok(Answer::Done)
            }),
            Call::MarkBlocked { budget_id, partition } => self.change_budget(budget_id, |budget| {
                budget::mark_blocked(budget, partition);
                Ok(Answer::Done)
            }),
            Call::ForgetBlocked {
                budget_id,
                partition,
                round,
            } => self.change_budget(budget_id, |budget| {
                budget::forget_blocked(budget, partition, round);
                Ok(Answer::Done)
            }),
        }
    }

    fn create_budget(&mut self, id: BudgetId, command: &CreateBudget) -> Result<Answer, Rejection> {
        let mut slot = self.budgets.remove(&id);
        let created = budget::create(&mut slot, id, command, self.now);
        self.budgets.extend(slot.map(|budget| (id, budget)));
        self.schedule_budget(id);
        created.map(Answer::Created)
    }

    /// Changes a budget; whatever that does to its timer and generation is known to others afterwards.
    fn change_budget(
        &mut self,
        id: BudgetId,
        change: impl FnOnce(&mut Budget) -> Result<Answer, Rejection>,
    ) -> Result<Answer, Rejection> {
        let budget = self.budgets.get_mut(&id).ok_or_else(|| budget::not_found(id))?;
        let generation = budget.generation;
        let answer = change(budget);
        if budget.generation != generation {
            self.hint_cause(Cause::Budget(id));
        }
        self.schedule_budget(id);
        answer
    }

    fn schedule_budget(&mut self, id: BudgetId) {
        let due_at = self.budgets.get(&id).and_then(budget::due_at);
        if !self.flawed(Flaw::BudgetForgetsDue) {
            self.schedule(self.counts.of_budget(id), DueKey::Budget(id), due_at);
        }
    }

    /// Tells that blocked work may have become admissible.
    pub(super) fn hint_cause(&mut self, cause: Cause) {
        if !self.flawed(Flaw::CauseNotHinted) {
            self.hints.note(Hint::Cause(cause));
        }
    }

    fn report_usage(&mut self, id: BudgetId, report: &UsageReport) -> Result<Answer, Rejection> {
        let now = self.now;
        let mut seen = self.usage_seen.of(id, report, now);
        if self.flawed(Flaw::BudgetCountsRepetitions) {
            seen.clear();
        }
        let loses_breaches = self.flawed(Flaw::BudgetRefusesBreaches);
        let mut remember = Vec::new();
        let answer = self.change_budget(id, |budget| {
            let before = budget.clone();
            let reported = budget::report_usage(budget, report, &seen, now)?;
            remember = reported.remember;
            if loses_breaches && matches!(reported.outcome, Reported::HardBreach { .. }) {
                *budget = before;
            }
            Ok(Answer::Reported(reported.outcome))
        });
        for remember in remember {
            self.usage_seen.remember(id, remember);
        }
        answer
    }

    fn list_budgets(&self, namespace: &Namespace, after: Option<BudgetId>, limit: usize) -> Answer {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let listed = |budget: &&Budget| {
            let visible = budget.namespace == *namespace || self.flawed(Flaw::BudgetListsOtherNamespaces);
            visible && budget.deleted_at.is_none()
        };
        let mut rest = self
            .budgets
            .range((from, Bound::Unbounded))
            .map(|(_, budget)| budget)
            .filter(listed);
        let view = |budget: &Budget| budget::view(budget, self.now);
        let budgets: Vec<BudgetView> = rest.by_ref().take(limit.clamp(1, PAGE_MAX)).map(view).collect();
        let more = rest.next().is_some();
        let next = budgets.last().map(|last| last.budget_id).filter(|_| more);
        Answer::Page { budgets, next }
    }
}
