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
use crate::partition::Partition;
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
    serde_json::to_string(&Budget {
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
    let mut budget: Budget = serde_json::from_str(&view.head.body)?;
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

/// What makes the account what the rules made of the budget that it was when `view` was read.
pub fn amend(view: &AccountView, before: &Budget, after: &Budget) -> Result<Amend, serde_json::Error> {
    let restart = after.usage.is_empty() && !before.usage.is_empty();
    let redefines = before.dimensions != after.dimensions || before.deleted_at != after.deleted_at;
    let moved_by_itself = u64::from(restart || redefines);
    let more = (after.generation - before.generation).cast_signed() - moved_by_itself.cast_signed();
    let cured = after
        .breached_by()
        .is_none()
        .then_some(before.hard_breaches.cast_signed());
    let moves = [
        (more != 0).then(|| moved(Meter::Generation, Move::Add(more))),
        cured
            .filter(|count| *count > 0)
            .map(|count| moved(CURED, Move::AtLeast(count))),
    ];
    Ok(Amend {
        body: Some(body(after)?),
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

/// Work is about to be blocked under this generation.
pub fn mark(account: AccountKey, partition: Partition, generation: i64) -> Amend {
    Amend {
        moves: vec![moved(Meter::Mark(partition), Move::AtLeast(generation))],
        ..Amend::new(account, Expected::Any)
    }
}

/// The release that began with generation `round` left nothing in `partition`.
pub fn forget(account: AccountKey, partition: Partition, round: u64) -> Amend {
    Amend {
        moves: vec![moved(Meter::Mark(partition), Move::ClearBelow(round.cast_signed()))],
        ..Amend::new(account, Expected::Any)
    }
}

const fn moved(meter: Meter, by: Move) -> Moved {
    Moved { meter, by }
}
