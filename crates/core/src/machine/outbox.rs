//! Effects on other partitions: what is sent, and what their arrival means for the execution that sent them.

use super::admission::describe_excess;
use super::budget::UsageReport;
use super::change::{Change, history_line};
use super::context::Context;
use super::decided::Decided;
use crate::command::budget::Reported;
use crate::id::{BudgetId, EffectId};
use crate::limits::DEDUP_WINDOW_DEFAULT;
use crate::record::{Attempt, BreachKind, Effect, EffectKind, Excess, Execution, Happening, Record, UsageIdentity};

/// An effect that has arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrived {
    /// Which effect.
    pub effect_id: EffectId,
    /// What the budget answered to usage.
    pub reported: Option<Reported>,
}

impl Arrived {
    /// An effect that nobody had anything to say to.
    pub const fn silently(effect_id: EffectId) -> Self {
        let reported = None;
        Self { effect_id, reported }
    }
}

/// The report an effect stands for, and the budget it goes to; `None` for effects of another kind. The policy says how long
/// a key is remembered.
pub fn report_of(execution: &Execution, effect: &Effect) -> Option<(BudgetId, UsageReport)> {
    let EffectKind::ReportUsage {
        budget_id,
        deltas,
        identity,
        ..
    } = &effect.kind
    else {
        return None;
    };
    let dedup_window = match identity {
        UsageIdentity::Key(_) => execution.definition.policy.dedup_window(),
        UsageIdentity::Request(_) | UsageIdentity::Call(..) | UsageIdentity::Effect(_) => DEDUP_WINDOW_DEFAULT,
    };
    let report = UsageReport {
        dedup_window,
        effect_id: Some(effect.id),
        ..UsageReport::new(deltas.clone()).identified_by(identity.clone())
    };
    Some((*budget_id, report))
}

/// The effect of a report that has not arrived yet.
pub fn outstanding<'e>(execution: &'e Execution, budget: BudgetId, wanted: &UsageIdentity) -> Option<&'e Effect> {
    execution.outbox.iter().find(|effect| {
        matches!(&effect.kind, EffectKind::ReportUsage { budget_id, identity, .. }
            if *budget_id == budget && identity == wanted)
    })
}

/// The attempts these effects stand on that have ended: they may be records of their own, which [`arrived`] is given.
pub fn ended_attempts(execution: &Execution, effects: &[Arrived]) -> Vec<u32> {
    let goes_on = execution.attempt.as_ref().filter(|attempt| attempt.end.is_none());
    let is_sent = |effect: &&Effect| effects.iter().any(|arrived| arrived.effect_id == effect.id);
    let sent = execution.outbox.iter().filter(is_sent);
    let mut indexes: Vec<u32> = sent.filter_map(attempt_of).collect();
    indexes.retain(|index| goes_on.is_none_or(|attempt| attempt.index != *index));
    indexes.sort_unstable();
    indexes.dedup();
    indexes
}

/// Effects have arrived: they leave the outbox. Usage the budget knew from another report is taken off the attempt again,
/// and the first breach of a limit in an attempt becomes history.
pub fn arrived(execution: &Execution, effects: &[Arrived], past: &[Attempt], context: &Context) -> Decided<()> {
    let mut change = Change::settled(execution, context);
    let mut attempts = past.to_vec();
    for Arrived { effect_id, reported } in effects {
        let Some(position) = change.after.outbox.iter().position(|effect| effect.id == *effect_id) else {
            continue;
        };
        let effect = change.after.outbox.remove(position);
        if let (EffectKind::ReportUsage { deltas, .. }, Some(Reported::AlreadyApplied)) = (&effect.kind, reported) {
            change.after.take_back_usage(deltas);
        }
        if let Some(reported) = reported {
            settle_usage(&mut change, &mut attempts, &effect, reported);
        }
    }
    let id = execution.id;
    for attempt in attempts.into_iter().filter(|attempt| !past.contains(attempt)) {
        change.draft.put(Record::Attempt(id, Box::new(attempt)));
    }
    change.finish(())
}

/// What the budget's answer means for the attempt, wherever it stands: on the execution, as a record of its own, or both.
fn settle_usage(change: &mut Change<'_>, past: &mut [Attempt], effect: &Effect, reported: &Reported) {
    let current = change.after.attempt.iter_mut().chain(past);
    let mut places: Vec<&mut Attempt> = current
        .filter(|attempt| Some(attempt.index) == attempt_of(effect))
        .collect();
    for attempt in &mut places {
        if *reported == Reported::AlreadyApplied {
            take_back(attempt, effect);
        }
    }
    let mut breaches = Vec::new();
    for attempt in &mut places {
        breaches = first_breaches(attempt, effect, reported);
    }
    let Some((index, epoch)) = places.first().map(|attempt| (attempt.index, attempt.lease_epoch)) else {
        return;
    };
    for (what, detail) in breaches {
        let mut line = history_line(&change.after, change.now, what, change.context, Some(detail));
        (line.attempt_index, line.lease_epoch) = (Some(index), Some(epoch));
        change.draft.history.push(line);
    }
}

fn attempt_of(effect: &Effect) -> Option<u32> {
    match effect.kind {
        EffectKind::ReportUsage { attempt_index, .. } => Some(attempt_index),
        EffectKind::ReleaseSlot { .. } => None,
    }
}

fn take_back(attempt: &mut Attempt, effect: &Effect) {
    let EffectKind::ReportUsage { budget_id, deltas, .. } = &effect.kind else {
        return;
    };
    let usage = attempt.usage.entry(*budget_id).or_default();
    for (dimension, delta) in deltas {
        let total = usage.entry(dimension.clone()).or_default();
        *total = total.saturating_sub(*delta);
    }
}

/// The limits a report was the first of its attempt to pass, for its history.
fn first_breaches(attempt: &mut Attempt, effect: &Effect, reported: &Reported) -> Vec<(Happening, String)> {
    let (kind, what, all): (_, _, &[Excess]) = match reported {
        Reported::SoftBreach { all, .. } => (BreachKind::Soft, Happening::SoftBreach, all),
        Reported::HardBreach { all, .. } => (BreachKind::Hard, Happening::HardBreach, all),
        Reported::Ok | Reported::AlreadyApplied | Reported::Gone => return Vec::new(),
    };
    let EffectKind::ReportUsage { budget_id, .. } = effect.kind else {
        return Vec::new();
    };
    let is_first = |excess: &&Excess| attempt.breached.insert((budget_id, excess.dimension.clone(), kind));
    let first = all.iter().filter(is_first);
    first.map(|excess| (what, describe_excess(budget_id, excess))).collect()
}
