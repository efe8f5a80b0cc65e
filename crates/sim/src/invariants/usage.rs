//! Effects on other partitions: nothing leaves an outbox undelivered, and every accepted usage report and every step that cost
//! something counts once.

use std::collections::{BTreeMap, BTreeSet};

use ff_core::id::BudgetId;
use ff_core::ledger::{AccountKey, Draw, LedgerAnswer, LedgerCall, Meter};
use ff_core::name::Dimension;
use ff_core::record::{Cause, Effect, EffectKind, Step, UsageIdentity};

use super::mirror::{Changes, Mirror};
use super::slots::SlotKey;
use super::watch::Store;
use super::{Holds, hold};

/// What tells one usage report from another.
pub(crate) type ReportKey = (BudgetId, String);

/// What budgets were charged, by dimension.
type Spent = BTreeMap<BudgetId, BTreeMap<Dimension, u64>>;

/// What steps cost. The costs of a call are one report, so only their sums can be compared.
#[derive(Clone, Default)]
pub(crate) struct Costs {
    due: Spent,
    counted: Spent,
}

impl Costs {
    /// A step was recorded.
    pub(crate) fn charge(&mut self, step: &Step) {
        for (budget_id, deltas) in &step.usage {
            add(&mut self.due, *budget_id, deltas);
        }
    }
}

fn add(spent: &mut Spent, budget_id: BudgetId, deltas: &BTreeMap<Dimension, u64>) {
    let usage = spent.entry(budget_id).or_default();
    for (dimension, delta) in deltas {
        *usage.entry(dimension.clone()).or_default() += delta;
    }
}

/// What receivers have ever been told. A failover does not shorten it: who was answered goes on from the answer.
#[derive(Default)]
pub(crate) struct Deliveries {
    reports: BTreeSet<ReportKey>,
    releases: BTreeSet<SlotKey>,
    /// Accounts that somebody was told are not there, or not any more.
    gone: BTreeSet<AccountKey>,
}

/// What a report adds, by dimension.
pub(crate) fn deltas_of(draw: &Draw) -> BTreeMap<Dimension, u64> {
    let spent = draw.uses.iter().filter_map(|spent| match &spent.meter {
        Meter::Spent(dimension) => Some((dimension.clone(), spent.amount.cast_unsigned())),
        _ => None,
    });
    spent.collect()
}

impl Deliveries {
    /// An account was asked, and answered; `counted` says whether it added what it was asked to.
    pub(crate) fn asked(&mut self, mirror: &mut Mirror, call: &LedgerCall, (answer, counted): (&LedgerAnswer, bool)) {
        if let LedgerAnswer::Absent(account) = answer {
            self.gone.insert(*account);
        }
        match (call, answer) {
            (LedgerCall::Draw(draw), LedgerAnswer::Drawn(_) | LedgerAnswer::Repeated { .. }) => {
                self.drawn(mirror, draw, counted);
            }
            (LedgerCall::Amend(amend), LedgerAnswer::Amended { .. }) => {
                if amend.listed == Some(None) {
                    self.gone.insert(amend.account);
                }
                if let AccountKey::Budget(id) = amend.account {
                    if amend.restart {
                        mirror.usage.remove(&id);
                    }
                    if amend.listed == Some(None) {
                        mirror.deleted_budgets.insert(id);
                    }
                }
            }
            (LedgerCall::Give(give), LedgerAnswer::Given | LedgerAnswer::Unknown) => {
                if let Some(AccountKey::Quota(id)) = give.path.first() {
                    self.releases.insert((*id, give.grant));
                }
            }
            _ => {}
        }
    }

    fn drawn(&mut self, mirror: &mut Mirror, draw: &Draw, counted: bool) {
        let Some((AccountKey::Budget(budget_id), _)) = draw.path.first() else {
            return;
        };
        let named = draw.identities.first().map(|name| &name.identity);
        let key = named.map(|identity| (*budget_id, identity.to_string()));
        self.reports.extend(key.clone());
        if counted {
            let deltas = deltas_of(draw);
            add(&mut mirror.usage, *budget_id, &deltas);
            // The workers of a world give every other report a name.
            if let Some(UsageIdentity::Effect(_)) = named {
                add(&mut mirror.costs.counted, *budget_id, &deltas);
            }
            mirror.counted.extend(key);
        }
    }

    /// Whatever a transaction took out of an outbox has arrived; what it put there is owed from now on.
    pub(crate) fn check(&self, mirror: &mut Mirror, changes: &Changes) -> Holds {
        for transition in &changes.executions {
            let outbox = |side: &Option<std::sync::Arc<ff_core::record::Execution>>| -> Vec<Effect> {
                side.as_ref()
                    .map(|execution| execution.outbox.clone())
                    .unwrap_or_default()
            };
            let (before, after) = (outbox(&transition.before), outbox(&transition.after));
            for effect in before.iter().filter(|effect| !after.contains(effect)) {
                hold(self.arrived(effect), "nothing leaves an outbox undelivered", || {
                    let id = transition.before.as_ref().map(|execution| execution.id);
                    format!("{id:?} forgot {effect:?}")
                })?;
                // What no budget was there to be told of is not owed to one that is created under the same id later.
                if let Some(key) = report_key(effect).filter(|key| !self.reports.contains(key)) {
                    mirror.owed.remove(&key);
                }
            }
            for effect in after.iter().filter(|effect| !before.contains(effect)) {
                mirror.owed.extend(report_key(effect));
            }
        }
        Ok(())
    }

    fn arrived(&self, effect: &Effect) -> bool {
        match &effect.kind {
            EffectKind::ReleaseSlot {
                quota_policy_id,
                grant_id,
            } => self.releases.contains(&(*quota_policy_id, *grant_id)),
            // A budget that is not there any more counts nothing, and nobody sends it anything.
            EffectKind::ReportUsage { budget_id, .. } => {
                let key = report_key(effect);
                let is_gone = self.gone.contains(&AccountKey::Budget(*budget_id));
                is_gone || key.is_some_and(|key| self.reports.contains(&key))
            }
        }
    }
}

fn report_key(effect: &Effect) -> Option<ReportKey> {
    match &effect.kind {
        EffectKind::ReleaseSlot { .. } => None,
        EffectKind::ReportUsage {
            budget_id, identity, ..
        } => Some((*budget_id, identity.to_string())),
    }
}

/// Every usage report that stood in an outbox counts at its budget, if there still is one: it may have been deleted, or its
/// creation forgotten. True once the outboxes are empty. `lost`: reports that a failover made their budget forget.
pub(crate) fn everything_counts(mirror: &Mirror, store: &Store, lost: &BTreeSet<ReportKey>) -> Holds {
    let exists = |budget: BudgetId| !mirror.deleted_budgets.contains(&budget) && store.has(Cause::Budget(budget));
    for key in mirror.owed.iter().filter(|(budget, _)| exists(*budget)) {
        hold(
            mirror.counted.contains(key) || lost.contains(key),
            "an accepted usage report counts",
            || format!("budget {} never heard of {}", key.0, key.1),
        )?;
    }
    steps_are_charged(mirror, exists)?;
    for budget in store.budgets() {
        if budget.reset_interval.is_some() {
            // Its usage starts again by itself, and nobody tells when.
            continue;
        }
        let none = BTreeMap::new();
        let counted = mirror.usage.get(&budget.budget_id).unwrap_or(&none);
        for (dimension, view) in &budget.dimensions {
            let expected = counted.get(dimension).copied().unwrap_or(0);
            hold(view.usage == expected, "usage is the sum of what was reported", || {
                let id = budget.budget_id;
                format!("budget {id}: {dimension} is {}, reported were {expected}", view.usage)
            })?;
        }
    }
    Ok(())
}

/// What steps cost was counted, and once. A failover makes budgets forget costs, and count those of steps that were lost.
fn steps_are_charged(mirror: &Mirror, exists: impl Fn(BudgetId) -> bool) -> Holds {
    if mirror.failovers > 0 {
        return Ok(());
    }
    let Costs { due, counted } = &mirror.costs;
    let charged = due.keys().chain(counted.keys()).copied().collect::<BTreeSet<_>>();
    for budget in charged.into_iter().filter(|budget| exists(*budget)) {
        let (due, counted) = (due.get(&budget), counted.get(&budget));
        hold(due == counted, "what a step cost counts once", || {
            format!("steps cost budget {budget} {due:?}, and it counted {counted:?}")
        })?;
    }
    Ok(())
}
