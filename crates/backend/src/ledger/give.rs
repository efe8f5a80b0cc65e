//! Give: a grant ends.

use std::collections::BTreeSet;

use ff_core::ledger::{AccountKey, Give, LedgerAnswer, sum};
use ff_core::limits::GRANT_TTL_MAX;

use super::books::Books;
use super::look::{change_head, change_meter};

pub(super) fn give<B: Books>(books: &mut B, give: &Give) -> Result<LedgerAnswer, B::Error> {
    let Some(first) = give.path.first().copied() else {
        return Ok(LedgerAnswer::Unknown);
    };
    let now = books.now();
    let Some(hold) = books.hold(first, give.grant)? else {
        // It may have asked on a way that is slower than this one.
        if books.head(first)?.is_some() {
            books.refuse(first, give.grant, now + GRANT_TTL_MAX)?;
        }
        return Ok(LedgerAnswer::Unknown);
    };
    let mut opened: BTreeSet<AccountKey> = BTreeSet::new();
    for took in &hold.took {
        let used = if give.undo { took.used } else { 0 };
        if took.held == 0 && used == 0 {
            continue;
        }
        change_meter(books, took.account, &took.meter, |numbers| {
            numbers.held = sum(numbers.held, -took.held);
            numbers.used = sum(numbers.used, -used);
        })?;
        opened.insert(took.account);
    }
    for (account, name) in hold.places.iter().filter(|_| give.undo) {
        books.put_place(*account, name, None)?;
        opened.insert(*account);
    }
    for (at, meter, correction) in &give.back {
        let account = give.path[*at];
        change_meter(books, account, meter, |numbers| {
            numbers.used = sum(numbers.used, *correction);
        })?;
        opened.insert(account);
    }
    books.drop_hold(first, give.grant)?;
    for account in opened {
        change_head(books, account, |head| {
            head.generation = sum(head.generation, 1);
            if head.marks > 0 {
                head.due.bring_forward(now);
            }
        })?;
    }
    Ok(LedgerAnswer::Given)
}
