//! Reading, and what every call looks at first.

use ff_core::ledger::{AccountKey, AccountView, Head, LedgerAnswer, Meter, Numbers, PlacesSeen, Read, ReadMeters};
use ff_core::time::{Duration, Timestamp};

use super::books::Books;

/// How soon the pump looks at an account where somebody waits and nobody knows from when on there is room.
pub(super) const LOOK_WITHIN: Duration = Duration::from_secs(1);

pub(super) fn read<B: Books>(books: &mut B, read: &Read) -> Result<LedgerAnswer, B::Error> {
    let account = read.account;
    let Some(head) = books.head(account)? else {
        return Ok(LedgerAnswer::Absent(account));
    };
    let mut view = AccountView::bare(account, head);
    match &read.meters {
        ReadMeters::All => view.meters = books.all_meters(account)?,
        ReadMeters::Only(meters) => {
            for meter in meters {
                let numbers = books.meter(account, meter)?.unwrap_or_default();
                view.meters.insert(meter.clone(), numbers);
            }
        }
    }
    for ask in &read.places {
        let beside = match &ask.beside {
            Some(meter) => books.meter(account, meter)?.unwrap_or_default().total(),
            None => 0,
        };
        let at_most = ask.at_most.saturating_sub(beside.max(0).cast_unsigned());
        let seen = places(books, account, ask.window, at_most)?;
        view.places.push(seen);
    }
    Ok(LedgerAnswer::Account(Box::new(view)))
}

/// How many places count, and from when on at most so many do.
pub(super) fn places<B: Books>(
    books: &mut B,
    account: AccountKey,
    window: Duration,
    at_most: u64,
) -> Result<PlacesSeen, B::Error> {
    let last_to_go = books.place_behind(account, at_most)?;
    Ok(PlacesSeen {
        count: books.count_places(account, window)?,
        falls_at: last_to_go.map(|taken_at| taken_at + window),
    })
}

/// Why nothing is taken or drawn on this path; `None`: nothing is in the way.
pub(super) fn obstacle<B: Books>(books: &mut B, path: &[(AccountKey, u64)]) -> Result<Option<LedgerAnswer>, B::Error> {
    let now = books.now();
    for (account, revision) in path {
        let Some(head) = books.head(*account)? else {
            return Ok(Some(LedgerAnswer::Absent(*account)));
        };
        if head.revision != *revision {
            return Ok(Some(LedgerAnswer::OtherRevision(Box::new(AccountView::bare(
                *account, head,
            )))));
        }
        if head.stale_at.is_some_and(|at| at.has_come(now)) {
            return Ok(Some(LedgerAnswer::Stale(*account)));
        }
    }
    Ok(None)
}

/// Changes the head of an account that is there.
pub(super) fn change_head<B: Books>(
    books: &mut B,
    account: AccountKey,
    change: impl FnOnce(&mut Head),
) -> Result<(), B::Error> {
    let Some(mut head) = books.head(account)? else {
        return Ok(());
    };
    change(&mut head);
    books.put_head(account, head)
}

/// Changes a number.
pub(super) fn change_meter<B: Books>(
    books: &mut B,
    account: AccountKey,
    meter: &Meter,
    change: impl FnOnce(&mut Numbers),
) -> Result<Numbers, B::Error> {
    let mut numbers = books.meter(account, meter)?.unwrap_or_default();
    change(&mut numbers);
    books.put_meter(account, meter, Some(numbers))?;
    Ok(numbers)
}

/// Work waits: the mark stands with the generation. One that stands with it already tells nobody anything new.
pub(super) fn mark<B: Books>(
    books: &mut B,
    account: AccountKey,
    (meter, generation): (&Meter, i64),
    look_at: Timestamp,
) -> Result<(), B::Error> {
    let before = books.meter(account, meter)?;
    if before.is_some_and(|before| before.used >= generation) {
        return Ok(());
    }
    let numbers = Numbers {
        used: generation,
        held: 0,
    };
    books.put_meter(account, meter, Some(numbers))?;
    change_head(books, account, |head| {
        head.marks += u64::from(before.is_none());
        head.due.bring_forward(look_at);
    })
}
