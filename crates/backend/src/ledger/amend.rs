//! Amend: the definition and single numbers, compared with what the caller has read.

use ff_core::ledger::{AccountKey, AccountView, Amend, Expected, Head, LedgerAnswer, Meter, Move, Moved, Numbers, sum};

use super::books::Books;
use super::look::{LOOK_WITHIN, change_head, change_meter, mark};

pub(super) fn amend<B: Books>(books: &mut B, amend: &Amend) -> Result<LedgerAnswer, B::Error> {
    let account = amend.account;
    let found = books.head(account)?;
    let is_expected = match (amend.expected, &found) {
        (Expected::Absent, None) => true,
        (Expected::Version(version), Some(head)) => head.version == version,
        (Expected::Any, Some(_)) => true,
        _ => false,
    };
    if !is_expected {
        let found = found.map(|head| Box::new(AccountView::bare(account, head)));
        return Ok(LedgerAnswer::Differs(found));
    }
    let head = amended(found, amend);
    let (version, revision) = (head.version, head.revision);
    books.put_head(account, head)?;
    if amend.restart {
        books.clear_spent(account)?;
    }
    if let Some(age) = amend.forget_places {
        books.drop_places(account, age)?;
    }
    for moved in &amend.moves {
        move_meter(books, account, moved)?;
    }
    Ok(LedgerAnswer::Amended { version, revision })
}

fn amended(found: Option<Head>, amend: &Amend) -> Head {
    let is_new = found.is_none();
    let mut head = found.unwrap_or_default();
    head.version = amend.tag;
    if is_new || amend.redefines {
        head.revision = amend.tag;
    }
    if is_new || amend.redefines || amend.restart {
        head.generation = sum(head.generation, 1);
    }
    if let Some(body) = &amend.body {
        head.body.clone_from(body);
    }
    if let Some(listed) = &amend.listed {
        head.listed_in.clone_from(listed);
    }
    if let Some(stale_at) = amend.stale_at {
        head.stale_at = stale_at;
    }
    // Whoever brought it forward meanwhile knows something that the caller does not.
    if let Some((stamp, at)) = amend.due.filter(|(stamp, _)| *stamp == head.due.stamp) {
        head.due.at = at;
        head.due.stamp = stamp;
    }
    head
}

fn move_meter<B: Books>(books: &mut B, account: AccountKey, Moved { meter, by }: &Moved) -> Result<(), B::Error> {
    let least = match by {
        Move::Add(amount) if *meter == Meter::Generation => {
            return change_head(books, account, |head| head.generation = sum(head.generation, *amount));
        }
        _ if *meter == Meter::Generation => return Ok(()),
        Move::Add(amount) => {
            return change_meter(books, account, meter, |numbers| {
                numbers.used = sum(numbers.used, *amount);
            })
            .map(drop);
        }
        Move::ClearBelow(least) => return clear_below(books, account, (meter, *least)),
        Move::AtLeast(least) => *least,
        Move::Reach(Meter::Generation) => books.head(account)?.map_or(0, |head| head.generation),
        Move::Reach(other) => books.meter(account, other)?.unwrap_or_default().used,
    };
    if meter.is_mark() {
        let look_at = books.now() + LOOK_WITHIN;
        return mark(books, account, (meter, least), look_at);
    }
    change_meter(books, account, meter, |numbers| numbers.used = numbers.used.max(least)).map(drop)
}

/// What is held of it stays.
fn clear_below<B: Books>(books: &mut B, account: AccountKey, (meter, least): (&Meter, i64)) -> Result<(), B::Error> {
    let below = books.meter(account, meter)?.filter(|numbers| numbers.used < least);
    let Some(numbers) = below else { return Ok(()) };
    let left = Numbers { used: 0, ..numbers };
    books.put_meter(account, meter, Some(left).filter(|left| left.held != 0))?;
    if meter.is_mark() {
        change_head(books, account, |head| head.marks = head.marks.saturating_sub(1))?;
    }
    Ok(())
}
