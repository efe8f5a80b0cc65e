//! How what grants have taken stands in rows.

use ff_core::id::GrantId;
use ff_core::ledger::{AccountKey, Hold, ReadHolds, Took};
use ff_core::limits::PAGE_MAX;
use ff_core::time::Timestamp;
use rusqlite::Row;
use serde::{Deserialize, Serialize};

use crate::clock::over_since;
use crate::column::{from_json, moment, parse, parsed, text, to_json};
use crate::database::Database;
use crate::sql::{self, with};

/// What a grant has taken, as it is written. Nothing for an account means the one it stands on.
#[derive(Serialize, Deserialize)]
struct Text {
    took: Vec<(Option<AccountKey>, String, i64, i64)>,
    places: Vec<(Option<AccountKey>, String)>,
}

pub(super) fn load(database: &Database<'_>, account: &str, grant: GrantId) -> rusqlite::Result<Option<Hold>> {
    let load = with!(sql::LOAD_HOLD, account: account, grant_id: grant.to_string());
    database.find(load, |row| read(row, account))
}

pub(super) fn load_all(
    database: &Database<'_>,
    account: &str,
    (ask, now): (&ReadHolds, Timestamp),
) -> rusqlite::Result<Vec<Hold>> {
    let load = with!(sql::LOAD_HOLDS,
        account: account,
        after: ask.after.map(|grant| grant.to_string()).unwrap_or_default(),
        taken_by: over_since(ask.older_than, now),
        limit: ask.limit.clamp(1, PAGE_MAX));
    database.all(load, |row| read(row, account))
}

fn read(row: &Row<'_>, account: &str) -> rusqlite::Result<Hold> {
    let own = parse(account)?;
    let text: Text = from_json(text(row, 3)?)?;
    let took = text.took.into_iter().map(|(account, meter, held, used)| {
        Ok(Took {
            account: account.unwrap_or(own),
            meter: parse(&meter)?,
            held,
            used,
        })
    });
    let places = text.places.into_iter();
    Ok(Hold {
        grant: parsed(row, 4)?,
        holder: parsed(row, 0)?,
        taken_at: moment(row, 1)?,
        tier: row.get(2)?,
        took: took.collect::<rusqlite::Result<_>>()?,
        places: places.map(|(account, name)| (account.unwrap_or(own), name)).collect(),
    })
}

pub(super) fn put(
    database: &Database<'_>,
    account: &str,
    (grant, hold): (GrantId, Option<&Hold>),
) -> rusqlite::Result<()> {
    let grant = grant.to_string();
    let Some(hold) = hold else {
        return database.run(with!(sql::DELETE_HOLD, account: account, grant_id: grant));
    };
    let own = parse(account)?;
    let other = |account: AccountKey| Some(account).filter(|account| *account != own);
    let took = |took: &Took| (other(took.account), took.meter.to_string(), took.held, took.used);
    let place = |(account, name): &(AccountKey, String)| (other(*account), name.clone());
    let text = Text {
        took: hold.took.iter().map(took).collect(),
        places: hold.places.iter().map(place).collect(),
    };
    database.run(with!(sql::PUT_HOLD,
        account: account,
        grant_id: grant,
        holder: hold.holder.to_string(),
        taken_at: hold.taken_at.as_millis(),
        tier: hold.tier,
        body: to_json(&text)?))
}
