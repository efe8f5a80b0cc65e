//! Answers of the library, value by value.

use std::vec::IntoIter;

use ff_backend::Result;
use ff_backend::codec::key::unescaped;
use ff_core::ledger::{
    AccountKey, AccountView, Due, Head, Hold, LastWatch, LedgerAnswer, Meter, Numbers, PlacesSeen, Seen, Took,
};
use ff_core::time::Timestamp;
use redis::Value;

use crate::error::corrupt;
use crate::reply::{document, list, number, optional_number, optional_text, text};

/// Reads what a step came to.
pub(super) fn answer(found: Value) -> Result<LedgerAnswer> {
    let mut found = Values(list(found)?.into_iter());
    let outcome = found.word()?;
    Ok(match outcome.as_str() {
        "taken" => LedgerAnswer::Taken {
            tier: found.number()?,
            again: found.flag()?,
        },
        "full" => LedgerAnswer::Full {
            account: found.account()?,
            generation: found.number()?,
            seen: found.rest(Values::seen)?,
        },
        "late" => LedgerAnswer::Late,
        "drawn" => LedgerAnswer::Drawn(found.rest(Values::number)?),
        "again" | "repeated" => LedgerAnswer::Repeated {
            same: outcome == "again",
            values: found.rest(Values::number)?,
        },
        "given" => LedgerAnswer::Given,
        "unknown" => LedgerAnswer::Unknown,
        "amended" => LedgerAnswer::Amended {
            version: found.number()?,
            revision: found.number()?,
        },
        "differs" if found.is_empty() => LedgerAnswer::Differs(None),
        "differs" => LedgerAnswer::Differs(Some(Box::new(found.view()?))),
        "other" => LedgerAnswer::OtherRevision(Box::new(found.view()?)),
        "account" => {
            let mut view = found.view()?;
            for _ in 0..found.number::<u64>()? {
                let meter = found.meter()?;
                let (used, held) = (found.number()?, found.number()?);
                view.meters.insert(meter, Numbers { used, held });
            }
            view.places = found.rest(Values::places)?;
            LedgerAnswer::Account(Box::new(view))
        }
        "holds" => LedgerAnswer::Holds(found.rest(|found| hold(&found.word()?))?),
        "absent" => LedgerAnswer::Absent(found.account()?),
        "stale" => LedgerAnswer::Stale(found.account()?),
        "corrupt" => return Err(corrupt(found.word()?)),
        other => return Err(corrupt(format!("a step came to {other:?}"))),
    })
}

/// Values that are read one after the other.
struct Values(IntoIter<Value>);

impl Values {
    fn is_empty(&self) -> bool {
        self.0.as_slice().is_empty()
    }

    fn next(&mut self) -> Result<Value> {
        self.0.next().ok_or_else(|| corrupt("an answer is too short"))
    }

    fn rest<T>(&mut self, read: impl Fn(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut all = Vec::new();
        while !self.is_empty() {
            all.push(read(self)?);
        }
        Ok(all)
    }

    fn word(&mut self) -> Result<String> {
        text(&self.next()?).map(str::to_owned)
    }

    /// What is not there is nothing.
    fn optional(&mut self) -> Result<Option<String>> {
        Ok(optional_text(&self.next()?)?.map(str::to_owned))
    }

    fn number<N: TryFrom<i64> + std::str::FromStr>(&mut self) -> Result<N> {
        number(&self.next()?)
    }

    fn moment(&mut self) -> Result<Option<Timestamp>> {
        Ok(optional_number(&self.next()?)?.map(Timestamp::from_millis))
    }

    fn flag(&mut self) -> Result<bool> {
        Ok(self.next()? != Value::Nil)
    }

    fn account(&mut self) -> Result<AccountKey> {
        self.word()?.parse().map_err(corrupt)
    }

    fn meter(&mut self) -> Result<Meter> {
        self.word()?.parse().map_err(corrupt)
    }

    fn seen(&mut self) -> Result<Seen> {
        Ok(Seen {
            value: self.number()?,
            fits: self.flag()?,
            fits_at: self.moment()?,
        })
    }

    fn places(&mut self) -> Result<PlacesSeen> {
        Ok(PlacesSeen {
            count: self.number()?,
            falls_at: self.moment()?,
        })
    }

    fn view(&mut self) -> Result<AccountView> {
        let account = self.account()?;
        let head = Head {
            version: self.number()?,
            revision: self.number()?,
            body: self.optional()?.unwrap_or_default(),
            stale_at: self.moment()?,
            due: Due {
                at: self.moment()?,
                stamp: self.number()?,
            },
            generation: self.number()?,
            marks: self.number()?,
            last: self.optional()?.map(|text| last(&text)).transpose()?,
            listed_in: self.optional()?.map(|text| unescaped(&text)).transpose()?,
        };
        Ok(AccountView::bare(account, head))
    }
}

/// A list of words that the library wrote.
fn words(written: &str) -> Result<Values> {
    let words: Vec<String> = document(written)?;
    let values: Vec<Value> = words
        .into_iter()
        .map(|word| Value::BulkString(word.into_bytes()))
        .collect();
    Ok(Values(values.into_iter()))
}

fn last(written: &str) -> Result<LastWatch> {
    let mut words = words(written)?;
    Ok(LastWatch {
        count: words.meter()?,
        meter: words.meter()?,
        value: words.number()?,
        limit: words.number()?,
        at: words.number().map(Timestamp::from_millis)?,
    })
}

/// `<grant> <hold>`.
fn hold(written: &str) -> Result<Hold> {
    let (grant, hold) = written.split_once(' ').ok_or_else(|| corrupt("a hold has no grant"))?;
    let mut words = words(hold)?;
    let (holder, taken_at) = (words.word()?, words.number()?);
    let (tier, about_numbers) = (words.number()?, words.number::<usize>()?);
    let mut took = Vec::new();
    for _ in 0..about_numbers / 4 {
        took.push(Took {
            account: words.account()?,
            meter: words.meter()?,
            held: words.number()?,
            used: words.number()?,
        });
    }
    Ok(Hold {
        grant: grant.parse().map_err(corrupt)?,
        holder: holder.parse().map_err(corrupt)?,
        taken_at: Timestamp::from_millis(taken_at),
        tier,
        took,
        places: words.rest(|words| Ok((words.account()?, words.word()?)))?,
    })
}
