//! What calls came to, as the library answers.

use ff_backend::Result;
use ff_core::id::GrantId;
use ff_core::ledger::{
    AccountKey, AccountView, Due, Head, Hold, LastWatch, LedgerAnswer, Meter, Numbers, PlacesSeen, Seen, Took,
};
use ff_core::name::Namespace;
use ff_core::time::Timestamp;

use super::rows::{AnswerRow, HoldRow, MeterRow, ViewRow};
use crate::error::corrupt;
use crate::shared::moment;

/// Reads what a call came to.
pub(super) fn read_answer(found: AnswerRow) -> Result<LedgerAnswer> {
    let account = || there(found.account.as_deref())?.parse::<AccountKey>().map_err(corrupt);
    let values = || found.numbers.clone().unwrap_or_default();
    Ok(match found.what.as_str() {
        "taken" | "again" => LedgerAnswer::Taken {
            tier: count(there(found.tier)?)?,
            again: found.what == "again",
        },
        "full" => LedgerAnswer::Full {
            account: account()?,
            generation: there(found.generation)?,
            seen: seen(found)?,
        },
        "late" => LedgerAnswer::Late,
        "drawn" => LedgerAnswer::Drawn(values()),
        "same" | "repeated" => LedgerAnswer::Repeated {
            same: found.what == "same",
            values: values(),
        },
        "given" => LedgerAnswer::Given,
        "unknown" => LedgerAnswer::Unknown,
        "amended" => {
            let [version, revision] = there(values().try_into().ok())?;
            LedgerAnswer::Amended {
                version: count(version)?,
                revision: count(revision)?,
            }
        }
        "differs" if found.view.is_none() => LedgerAnswer::Differs(None),
        "differs" => LedgerAnswer::Differs(Some(Box::new(bare(account()?, found.view)?))),
        "other" => LedgerAnswer::OtherRevision(Box::new(bare(account()?, found.view)?)),
        "account" => LedgerAnswer::Account(Box::new(view(account()?, found)?)),
        "holds" => {
            let own = account()?;
            let holds = found.holds.into_iter().flatten();
            LedgerAnswer::Holds(holds.map(|row| hold(own, row)).collect::<Result<_>>()?)
        }
        "absent" => LedgerAnswer::Absent(account()?),
        "stale" => LedgerAnswer::Stale(account()?),
        other => return Err(corrupt(format!("a call on an account came to {other:?}"))),
    })
}

fn seen(found: AnswerRow) -> Result<Vec<Seen>> {
    let (values, fits) = (found.numbers.unwrap_or_default(), found.fits.unwrap_or_default());
    let moments = found.moments.unwrap_or_default();
    if values.len() != fits.len() || values.len() != moments.len() {
        return Err(corrupt("not every entry of a tier showed something"));
    }
    let entries = values.into_iter().zip(fits).zip(moments);
    let seen = entries.map(|((value, fits), at)| Seen {
        value,
        fits,
        fits_at: at.map(moment),
    });
    Ok(seen.collect())
}

fn view(account: AccountKey, found: AnswerRow) -> Result<AccountView> {
    let mut view = bare(account, found.view)?;
    for MeterRow { meter, used, held } in found.meters.into_iter().flatten() {
        view.meters
            .insert(meter.parse().map_err(corrupt)?, Numbers { used, held });
    }
    let counts = found.numbers.unwrap_or_default().into_iter();
    for (number, falls_at) in counts.zip(found.moments.unwrap_or_default()) {
        view.places.push(PlacesSeen {
            count: count(number)?,
            falls_at: falls_at.map(moment),
        });
    }
    Ok(view)
}

fn bare(account: AccountKey, row: Option<ViewRow>) -> Result<AccountView> {
    let row = there(row)?;
    let head = Head {
        version: count(row.version)?,
        revision: count(row.revision)?,
        body: row.body,
        stale_at: row.stale_at.map(moment),
        due: Due {
            at: row.due_at.map(moment),
            stamp: count(row.due_stamp)?,
        },
        generation: row.generation,
        marks: count(row.marks)?,
        last: row.last.map(|text| last(&text)).transpose()?,
        listed_in: row.listed_in.map(Namespace::parse).transpose().map_err(corrupt)?,
    };
    Ok(AccountView::bare(account, head))
}

/// What counts it, which number, how much, the limit, when.
fn last(text: &str) -> Result<LastWatch> {
    let (count, meter, value, limit, at): (String, String, i64, i64, Timestamp) =
        serde_json::from_str(text).map_err(corrupt)?;
    Ok(LastWatch {
        count: count.parse().map_err(corrupt)?,
        meter: meter.parse().map_err(corrupt)?,
        value,
        limit,
        at,
    })
}

fn hold(own: AccountKey, row: HoldRow) -> Result<Hold> {
    let account = |text: Option<String>| text.map_or(Ok(own), |text| text.parse().map_err(corrupt));
    let took = row.accounts.into_iter().zip(row.meters).zip(row.held).zip(row.used);
    let took = took.map(|(((of, meter), held), used)| {
        Ok(Took {
            account: account(of)?,
            meter: meter.parse::<Meter>().map_err(corrupt)?,
            held,
            used,
        })
    });
    let places = row.place_accounts.into_iter().zip(row.places);
    let places = places.map(|(of, name)| Ok((account(of)?, name)));
    Ok(Hold {
        grant: GrantId::from_uuid(row.grant_id),
        holder: row.holder.parse().map_err(corrupt)?,
        taken_at: moment(row.taken_at),
        tier: count(row.tier)?,
        took: took.collect::<Result<_>>()?,
        places: places.collect::<Result<_>>()?,
    })
}

fn there<T>(value: Option<T>) -> Result<T> {
    value.ok_or_else(|| corrupt("an answer about an account lacks something"))
}

fn count<F, T: TryFrom<F>>(number: F) -> Result<T> {
    T::try_from(number).map_err(|_| corrupt("an account counts below zero"))
}
