//! A budget as an account: what is spent and how often a limit was passed are numbers, all else its definition.

use std::collections::BTreeMap;

use super::due::due_at;
use super::report::UsageReport;
use super::settle;
use super::spend::judge;
use crate::command::budget::Reported;
use crate::ledger::{
    AccountKey, AccountView, Amend, Draw, Expected, Identity, LastWatch, LedgerAnswer, Meter, Move, Moved, Use, Watch,
};
use crate::name::Dimension;
use crate::record::stored;
use crate::record::{BlockedIn, Breach, BreachKind, Budget, Excess, Limits, OnHardLimit, StopOrder};
use crate::time::Timestamp;

/// Reports that left a dimension above its hard limit.
const HARD: Meter = Meter::own("hard");
/// Reports that left a dimension above its soft limit, and none above its hard limit.
const SOFT: Meter = Meter::own("soft");
/// How many of the former there were when nothing was above its hard limit: they stop nobody any more.
const CURED: Meter = Meter::own("cured");

/// What a budget says of itself: the numbers stand in the account.
pub fn body(budget: &Budget) -> Result<String, serde_json::Error> {
    stored::write(&Budget {
        usage: BTreeMap::new(),
        generation: 0,
        soft_breaches: 0,
        hard_breaches: 0,
        last_breach: None,
        blocked_in: BlockedIn::default(),
        ..budget.clone()
    })
}

/// The budget that an account is. All its numbers must have been read.
pub fn budget(view: &AccountView) -> Result<Budget, serde_json::Error> {
    let mut budget: Budget = stored::read(&view.head.body)?;
    let used = |meter: &Meter| view.meters.get(meter).map_or(0, |numbers| numbers.used);
    budget.generation = view.head.generation.cast_unsigned();
    budget.hard_breaches = used(&HARD).cast_unsigned();
    budget.soft_breaches = used(&SOFT).cast_unsigned();
    budget.last_breach = view.head.last.as_ref().and_then(breach);
    for (meter, numbers) in &view.meters {
        match meter {
            Meter::Spent(dimension) => {
                budget.usage.insert(dimension.clone(), numbers.used.cast_unsigned());
            }
            Meter::Mark(partition) => budget.blocked_in.mark(*partition, numbers.used.cast_unsigned()),
            _ => {}
        }
    }
    let is_breached = budget.deleted_at.is_none() && budget.breached_by().is_some();
    let is_uncured = is_breached && used(&HARD) > used(&CURED);
    if is_uncured && budget.on_hard_limit == OnHardLimit::CancelActive && budget.stop.is_none() {
        let since = view.head.last.as_ref().map_or(budget.generation_at, |last| last.at);
        budget.stop = Some(StopOrder {
            since,
            generation: budget.generation,
            next_sweep_at: Some(since),
        });
    }
    Ok(budget)
}

fn breach(last: &LastWatch) -> Option<Breach> {
    let Meter::Spent(dimension) = &last.meter else {
        return None;
    };
    let excess = Excess {
        dimension: dimension.clone(),
        current: last.value.cast_unsigned(),
        limit: last.limit.cast_unsigned(),
    };
    let kind = match last.count == HARD {
        true => BreachKind::Hard,
        false => BreachKind::Soft,
    };
    Some(Breach {
        excess,
        kind,
        at: last.at,
    })
}

/// What a report asks of the account.
pub fn draw(account: AccountKey, revision: u64, budget: &Budget, report: &UsageReport) -> Draw {
    let spent = |(dimension, amount): (&Dimension, &u64)| Use {
        at: 0,
        meter: Meter::Spent(dimension.clone()),
        amount: amount.cast_signed(),
        always: budget.dimensions.contains_key(dimension),
    };
    let watch = |count: Meter, limit_of: fn(&Limits) -> Option<u64>| {
        let limit = |dimension: &Dimension| {
            let limit = limit_of(budget.dimensions.get(dimension)?)?;
            Some((Meter::Spent(dimension.clone()), limit.cast_signed()))
        };
        Watch {
            at: 0,
            count,
            over: report.deltas.keys().filter_map(limit).collect(),
        }
    };
    let identity = |(identity, remembered)| Identity { identity, remembered };
    Draw {
        path: vec![(account, revision)],
        grant: None,
        identities: report.names().map(identity).collect(),
        bearer: report.effect_id,
        uses: report.deltas.iter().map(spent).collect(),
        watches: vec![watch(HARD, |limits| limits.hard), watch(SOFT, |limits| limits.soft)],
    }
}

/// What the account's answer to a report means. `None`: it says nothing about it.
pub fn judged(budget: &Budget, report: &UsageReport, answer: &LedgerAnswer) -> Option<Reported> {
    let values = match answer {
        LedgerAnswer::Drawn(values) | LedgerAnswer::Repeated { same: true, values } => values,
        LedgerAnswer::Repeated { same: false, .. } => return Some(Reported::AlreadyApplied),
        _ => return None,
    };
    let usage = report
        .deltas
        .keys()
        .cloned()
        .zip(values.iter().map(|value| value.cast_unsigned()));
    let stands = Budget {
        usage: usage.collect(),
        ..budget.clone()
    };
    Some(judge(&stands, &report.deltas))
}

/// What makes the account what the rules made of the budget that it was when `view` was read; `is_reset`: by hand.
pub fn amend(view: &AccountView, before: &Budget, after: &Budget, is_reset: bool) -> Result<Amend, serde_json::Error> {
    // Known to the caller or not: what is reported in between belongs to the old period.
    let is_settled = after.deleted_at.is_none() && after.next_reset_at != before.next_reset_at;
    let restart = is_reset || is_settled;
    let redefines = before.dimensions != after.dimensions || before.deleted_at != after.deleted_at;
    let moved_by_itself = u64::from(restart || redefines);
    let more = (after.generation - before.generation).cast_signed() - moved_by_itself.cast_signed();
    // A report that comes in between may pass a limit that was raised; of what was reset nothing is left to pass one.
    let known = view.meters.get(&CURED).map_or(0, |numbers| numbers.used);
    let cured = match after.breached_by() {
        _ if restart => Some(Move::Reach(HARD)),
        None if before.hard_breaches.cast_signed() > known => Some(Move::AtLeast(before.hard_breaches.cast_signed())),
        None | Some(_) => None,
    };
    let moves = [
        (more != 0).then(|| moved(Meter::Generation, Move::Add(more))),
        cured.map(|cured| moved(CURED, cured)),
    ];
    Ok(Amend {
        body: Some(body(after)?),
        listed: after.deleted_at.map(|_| None),
        redefines,
        moves: moves.into_iter().flatten().collect(),
        restart,
        stale_at: Some(after.next_reset_at),
        due: Some((view.head.due.stamp, due_at(after))),
        ..Amend::new(view.account, Expected::Version(view.head.version))
    })
}

/// A periodic reset that is due has happened; `None`: none is.
pub fn settled(budget: &Budget, now: Timestamp) -> Option<Budget> {
    let mut after = budget.clone();
    settle::settle(&mut after, now);
    (after != *budget).then_some(after)
}

/// A new budget.
pub fn create(account: AccountKey, budget: &Budget) -> Result<Amend, serde_json::Error> {
    Ok(Amend {
        body: Some(body(budget)?),
        listed: Some(Some(budget.namespace.clone())),
        stale_at: Some(budget.next_reset_at),
        due: Some((0, due_at(budget))),
        ..Amend::new(account, Expected::Absent)
    })
}

const fn moved(meter: Meter, by: Move) -> Moved {
    Moved { meter, by }
}
