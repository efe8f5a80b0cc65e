//! A quota policy as an account: slots and promises are numbers, places its log, and all else its definition.

use super::due::{Outlook, headroom_beside, places_beside, release_when_due};
use super::slot::{Admit, QuotaAdmission};
use crate::command::quota::QuotaPolicyView;
use crate::ledger::{
    AccountKey, AccountView, Amend, Bound, Entry, Expected, Floor, LedgerAnswer, Mark, Meter, Move, Moved, Number,
    PlaceEntry, Read, ReadMeters, ReadPlaces, Take, TakeKind,
};
use crate::machine::admission::{Headroom, Release};
use crate::record::stored;
use crate::record::{BlockedIn, Promise, QuotaPolicy};
use crate::time::{Duration, Timestamp, earliest};

/// When a caller that found no slot may try again. Nobody knows when one is freed; this only keeps callers from spinning.
pub const CAP_RETRY_AFTER: Duration = Duration::from_secs(1);
/// How often a deleted policy that has lent slots is looked at.
const LENT_LOOK_INTERVAL: Duration = Duration::from_secs(60);
/// Leases that are held.
const SLOTS: Meter = Meter::own("slots");
/// Leases that released work is on its way to take.
const PROMISED: Meter = Meter::own("promised");

/// What a policy says of itself: the numbers stand in the account.
pub fn body(policy: &QuotaPolicy) -> Result<String, serde_json::Error> {
    stored::write(&QuotaPolicy {
        generation: 0,
        blocked_in: BlockedIn::default(),
        continuing_in: BlockedIn::default(),
        promise: policy.promise.map(|promise| Promise { count: 0, ..promise }),
        ..policy.clone()
    })
}

/// The policy that an account is, with as many of its numbers as were read.
pub fn policy(view: &AccountView) -> Result<QuotaPolicy, serde_json::Error> {
    let mut policy: QuotaPolicy = stored::read(&view.head.body)?;
    policy.generation = view.head.generation.cast_unsigned();
    for (meter, numbers) in &view.meters {
        match meter {
            Meter::Mark(partition) => policy.blocked_in.mark(*partition, numbers.used.cast_unsigned()),
            Meter::PlacelessMark(partition) => policy.continuing_in.mark(*partition, numbers.used.cast_unsigned()),
            _ => {}
        }
    }
    let promised = promised(view);
    let promise = policy.promise.filter(|_| promised > 0);
    policy.promise = promise.map(|promise| Promise {
        count: promised.cast_unsigned(),
        ..promise
    });
    Ok(policy)
}

/// What is promised, less what was admitted since nothing is.
fn promised(view: &AccountView) -> i64 {
    view.meters.get(&PROMISED).map_or(0, |numbers| numbers.used)
}

/// Leases that are held, as an account shows them.
pub fn slots(view: &AccountView) -> u64 {
    view.meters
        .get(&SLOTS)
        .map_or(0, |numbers| numbers.total().cast_unsigned())
}

/// The policy for a reader.
pub fn shown(view: &AccountView, policy: &QuotaPolicy) -> QuotaPolicyView {
    super::define::view(policy, slots(view), places(view))
}

/// How many could be admitted.
pub fn headroom(view: &AccountView, policy: &QuotaPolicy) -> Headroom {
    headroom_beside(policy, slots(view), places(view))
}

fn places(view: &AccountView) -> u64 {
    view.places.first().map_or(0, |places| places.count)
}

/// What is read to say how a policy stands, and from when on there is room, also beside what is promised.
pub fn look(account: AccountKey, policy: &QuotaPolicy) -> Read {
    let beside = |beside| ReadPlaces {
        window: policy.window,
        at_most: places_beside(policy, 0).unwrap_or(0),
        beside,
    };
    Read {
        account,
        meters: ReadMeters::All,
        places: vec![beside(None), beside(Some(PROMISED))],
    }
}

/// What an admission asks of the account.
pub fn take(account: AccountKey, revision: u64, policy: &QuotaPolicy, ask: &Admit) -> Take {
    let number = |meter, kind, floor, delta, bound| {
        Entry::Number(Number {
            at: 0,
            meter,
            kind,
            floor,
            delta,
            bound,
        })
    };
    let cap = policy
        .max_concurrent
        .map_or(Bound::Free, |max| Bound::At(max.cast_signed()));
    let place = policy.max_requests_per_window.filter(|_| !ask.continues);
    let place = place.map(|at_most| {
        Entry::Place(PlaceEntry {
            at: 0,
            name: format!("{}#{}", ask.execution_id, ask.attempt_index),
            window: policy.window,
            at_most,
        })
    });
    let slot = number(SLOTS, TakeKind::Held, Floor::None, 1, cap);
    // Whoever comes first uses the room that was kept; a released execution that finds none is blocked again. It counts on
    // below zero, so that who is admitted while a release begins uses that release's room, whichever of both is first.
    let promise = number(PROMISED, TakeKind::Used, Floor::None, -1, Bound::Free);
    Take {
        path: vec![(account, revision)],
        grant: ask.grant_id,
        holder: ask.execution_id,
        instead_of: None,
        tiers: vec![[slot].into_iter().chain(place).chain([promise]).collect()],
        mark: Some(Mark {
            partition: ask.execution_id.partition(),
            placeless: ask.continues,
        }),
    }
}

/// What the account's answer to an admission means. `None`: it says nothing about it.
pub fn judged(policy: &QuotaPolicy, ask: &Admit, answer: &LedgerAnswer, now: Timestamp) -> Option<QuotaAdmission> {
    let (seen, generation) = match answer {
        LedgerAnswer::Taken { again: false, .. } => return Some(QuotaAdmission::Admitted),
        LedgerAnswer::Taken { again: true, .. } => return Some(QuotaAdmission::AlreadyAdmitted),
        LedgerAnswer::Late => return Some(QuotaAdmission::Late),
        LedgerAnswer::Full { seen, generation, .. } => (seen, generation.cast_unsigned()),
        _ => return None,
    };
    let jitter = Duration::from_millis(ask.dice % (policy.jitter.as_millis() + 1));
    let slot = seen.first()?;
    if !slot.fits {
        let max_concurrent = policy.max_concurrent?;
        return Some(QuotaAdmission::CapFull {
            in_use: slot.value.cast_unsigned(),
            max_concurrent,
            retry_after: (max_concurrent > 0).then_some(CAP_RETRY_AFTER + jitter),
            generation,
        });
    }
    let place = seen.get(1)?;
    Some(QuotaAdmission::WindowFull {
        taken: place.value.cast_unsigned(),
        max_requests_per_window: policy.max_requests_per_window?,
        window: policy.window,
        retry_after: place.fits_at.map(|at| at.since(now) + jitter),
        generation,
    })
}

/// Begins a release if one is due, and says when the next look is. `view` is what [`look`] read at `now`.
pub fn advance(
    view: &AccountView,
    policy: &QuotaPolicy,
    now: Timestamp,
) -> Result<(Option<Release>, Amend), serde_json::Error> {
    let mut after = policy.clone();
    let outlook = outlook(view);
    let release = release_when_due(&mut after, &outlook, places(view), now);
    let mut moves = Vec::new();
    if release.is_some() {
        let kept = after.promise.map_or(0, |promise| promise.count).cast_signed();
        let kept = Move::Add(kept - promised(view));
        moves.extend([moved(Meter::Generation, Move::Add(1)), moved(PROMISED, kept)]);
    }
    let due = earliest([
        super::due::due_when(&after, &outlook),
        unreturned(&after, &outlook, now),
    ]);
    let amend = Amend {
        body: release.is_some().then(|| body(&after)).transpose()?,
        moves,
        due: Some((view.head.due.stamp, due)),
        ..Amend::new(view.account, Expected::Version(view.head.version))
    };
    Ok((release, amend))
}

fn outlook(view: &AccountView) -> Outlook {
    let falls_at = |nth: usize| view.places.get(nth).and_then(|places| places.falls_at);
    Outlook {
        slots: slots(view),
        place_free_at: falls_at(0),
        unpromised_place_free_at: falls_at(1),
    }
}

/// When somebody looks again at a deleted policy that has lent slots: nobody else would meet it, and a slot whose lease was lost would
/// stay for ever.
fn unreturned(policy: &QuotaPolicy, outlook: &Outlook, now: Timestamp) -> Option<Timestamp> {
    (policy.deleted_at.is_some() && outlook.slots > 0).then(|| now + LENT_LOOK_INTERVAL)
}

/// The policy is another one from now on.
pub fn redefine(
    view: &AccountView,
    before: &QuotaPolicy,
    after: &QuotaPolicy,
    now: Timestamp,
) -> Result<Amend, serde_json::Error> {
    let waits = !before.blocked_in.is_empty();
    let is_deleted = after.deleted_at.is_some();
    Ok(Amend {
        body: Some(body(after)?),
        listed: is_deleted.then_some(None),
        redefines: true,
        forget_places: Some(if is_deleted { Duration::ZERO } else { before.window }),
        due: (waits || (is_deleted && slots(view) > 0)).then_some((view.head.due.stamp, Some(now))),
        ..Amend::new(view.account, Expected::Version(view.head.version))
    })
}

/// A new policy.
pub fn create(account: AccountKey, policy: &QuotaPolicy) -> Result<Amend, serde_json::Error> {
    Ok(Amend {
        body: Some(body(policy)?),
        listed: Some(Some(policy.namespace.clone())),
        ..Amend::new(account, Expected::Absent)
    })
}

const fn moved(meter: Meter, by: Move) -> Moved {
    Moved { meter, by }
}
