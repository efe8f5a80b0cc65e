//! Draw: it is spent, whatever the bounds say.

use ff_core::ledger::{AccountKey, Draw, LastWatch, LedgerAnswer, Meter, Numbers, Use, Watch, sum};
use ff_core::record::DIMENSIONS_MAX;

use super::books::Books;
use super::look::{change_head, change_meter, obstacle};

pub(super) fn draw<B: Books>(books: &mut B, draw: &Draw) -> Result<LedgerAnswer, B::Error> {
    let Some((first, _)) = draw.path.first().copied() else {
        return Ok(LedgerAnswer::Drawn(Vec::new()));
    };
    if let Some(obstacle) = obstacle(books, &draw.path)? {
        return Ok(obstacle);
    }
    let mut bearers = Vec::new();
    for identity in &draw.identities {
        bearers.extend(books.remembered(first, &identity.identity)?);
    }
    if !bearers.is_empty() {
        return Ok(LedgerAnswer::Repeated {
            same: draw.bearer.is_some() && bearers.contains(&draw.bearer),
            values: values(books, draw)?,
        });
    }
    for spent in &draw.uses {
        add(books, draw, (first, spent))?;
    }
    for at in 0..draw.path.len() {
        count(books, draw, at)?;
    }
    for identity in &draw.identities {
        books.remember(first, identity, draw.bearer)?;
    }
    Ok(LedgerAnswer::Drawn(values(books, draw)?))
}

fn values<B: Books>(books: &mut B, draw: &Draw) -> Result<Vec<i64>, B::Error> {
    let value = |spent: &Use| {
        let numbers = books.meter(draw.path[spent.at].0, &spent.meter)?;
        Ok(numbers.unwrap_or_default().used)
    };
    draw.uses.iter().map(value).collect()
}

/// Names invented by callers do not grow an account without end.
fn add<B: Books>(books: &mut B, draw: &Draw, (first, spent): (AccountKey, &Use)) -> Result<(), B::Error> {
    let account = draw.path[spent.at].0;
    let before = books.meter(account, &spent.meter)?;
    let is_counted = spent.always || before.is_some() || !matches!(spent.meter, Meter::Spent(_));
    if !is_counted && books.count_spent(account)? >= DIMENSIONS_MAX {
        return Ok(());
    }
    let before = before.unwrap_or_default();
    let drawn_down = draw_down(books, draw, (first, account, spent))?;
    let after = Numbers {
        used: sum(before.used, spent.amount),
        held: sum(before.held, -drawn_down),
    };
    books.put_meter(account, &spent.meter, Some(after))
}

/// What of it the grant had kept for this.
fn draw_down<B: Books>(
    books: &mut B,
    draw: &Draw,
    (first, account, spent): (AccountKey, AccountKey, &Use),
) -> Result<i64, B::Error> {
    let Some(grant) = draw.grant else { return Ok(0) };
    let Some(mut hold) = books.hold(first, grant)? else {
        return Ok(0);
    };
    let mut left = spent.amount;
    let own = |took: &&mut ff_core::ledger::Took| took.account == account && took.meter == spent.meter;
    for took in hold.took.iter_mut().filter(own) {
        let part = left.min(took.held).max(0);
        took.held -= part;
        left -= part;
    }
    let drawn_down = spent.amount - left;
    if drawn_down > 0 {
        books.put_hold(first, hold)?;
    }
    Ok(drawn_down)
}

/// Counts and notes the first of an account's watches that sees a limit passed.
fn count<B: Books>(books: &mut B, draw: &Draw, at: usize) -> Result<(), B::Error> {
    let account = draw.path[at].0;
    for watch in draw.watches.iter().filter(|watch| watch.at == at) {
        if let Some((meter, value, limit)) = passed(books, account, watch)? {
            change_meter(books, account, &watch.count, |numbers| {
                numbers.used = sum(numbers.used, 1);
            })?;
            let now = books.now();
            return change_head(books, account, |head| {
                head.last = Some(LastWatch {
                    count: watch.count.clone(),
                    meter,
                    value,
                    limit,
                    at: now,
                });
                head.due.bring_forward(now);
            });
        }
    }
    Ok(())
}

fn passed<B: Books>(books: &mut B, account: AccountKey, watch: &Watch) -> Result<Option<(Meter, i64, i64)>, B::Error> {
    for (meter, limit) in &watch.over {
        let value = books.meter(account, meter)?.unwrap_or_default().used;
        if value > *limit {
            return Ok(Some((meter.clone(), value, *limit)));
        }
    }
    Ok(None)
}
