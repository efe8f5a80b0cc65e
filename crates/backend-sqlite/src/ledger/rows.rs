//! How heads, numbers and what is remembered stand in rows.

use ff_core::id::EffectId;
use ff_core::ledger::{Due, Head, LastWatch, Meter, Numbers};
use ff_core::partition::Partition;
use ff_core::time::Timestamp;
use rusqlite::Row as SqlRow;

use super::kept::Row;
use super::log::Log;
use crate::column::{from_json, moment_if_any, parse, parsed, parsed_if_any, to_json};
use crate::database::Database;
use crate::sql::{self, with};

/// The last limit that was passed, as it is written: what counts it, which number, how much, the limit, when.
type LastText = (String, String, i64, i64, Timestamp);

/// Something that is remembered.
pub(super) struct Seen {
    pub(super) name: String,
    pub(super) bearer: Option<EffectId>,
    pub(super) until: Timestamp,
}

pub(super) fn load_row(database: &Database<'_>, account: &str) -> rusqlite::Result<Option<Row>> {
    database.find(with!(sql::LOAD_ACCOUNT, account: account), |row| {
        let head = Head {
            version: row.get(0)?,
            revision: row.get(1)?,
            body: row.get(2)?,
            stale_at: moment_if_any(row, 3)?,
            due: Due {
                at: moment_if_any(row, 4)?,
                stamp: row.get(5)?,
            },
            generation: row.get(6)?,
            marks: row.get(7)?,
            last: row.get_ref(8)?.as_str_or_null()?.map(read_last).transpose()?,
            listed_in: parsed_if_any(row, 9)?,
        };
        let log = Log {
            oldest: row.get(10)?,
            first: row.get(11)?,
            next: row.get(12)?,
            gaps: row.get(13)?,
        };
        Ok(Row { head, log })
    })
}

pub(super) fn put_row(
    database: &Database<'_>,
    (account, partition): (&str, Partition),
    row: &Row,
) -> rusqlite::Result<()> {
    let Row { head, log } = row;
    let last = head.last.as_ref().map(write_last).transpose()?;
    database.run(with!(sql::PUT_ACCOUNT,
        account: account,
        partition: partition.to_string(),
        version: head.version,
        revision: head.revision,
        body: &head.body,
        stale_at: head.stale_at.map(Timestamp::as_millis),
        due_at: head.due.at.map(Timestamp::as_millis),
        due_stamp: head.due.stamp,
        generation: head.generation,
        marks: head.marks,
        last: last,
        listed_in: head.listed_in.as_ref().map(|namespace| namespace.as_str()),
        oldest_place: log.oldest,
        first_place: log.first,
        next_place: log.next,
        gaps: log.gaps))
}

fn read_last(text: &str) -> rusqlite::Result<LastWatch> {
    let (count, meter, value, limit, at): LastText = from_json(text)?;
    Ok(LastWatch {
        count: parse(&count)?,
        meter: parse(&meter)?,
        value,
        limit,
        at,
    })
}

fn write_last(last: &LastWatch) -> rusqlite::Result<String> {
    let text: LastText = (
        last.count.to_string(),
        last.meter.to_string(),
        last.value,
        last.limit,
        last.at,
    );
    to_json(&text)
}

fn numbers(row: &SqlRow<'_>) -> rusqlite::Result<Numbers> {
    Ok(Numbers {
        used: row.get(0)?,
        held: row.get(1)?,
    })
}

pub(super) fn load_meter(database: &Database<'_>, account: &str, meter: &Meter) -> rusqlite::Result<Option<Numbers>> {
    let load = with!(sql::LOAD_METER, account: account, meter: meter.to_string());
    database.find(load, numbers)
}

pub(super) fn load_meters(
    database: &Database<'_>,
    account: &str,
    (from, before): (&str, &str),
) -> rusqlite::Result<Vec<(Meter, Numbers)>> {
    let load = with!(sql::LOAD_METERS, account: account, from: from, before: before);
    database.all(load, |row| Ok((parsed(row, 2)?, numbers(row)?)))
}

pub(super) fn put_meter(
    database: &Database<'_>,
    account: &str,
    (meter, numbers): (&Meter, Option<&Numbers>),
) -> rusqlite::Result<()> {
    let meter = meter.to_string();
    match numbers {
        Some(Numbers { used, held }) => {
            database.run(with!(sql::PUT_METER, account: account, meter: meter, used: used, held: held))
        }
        None => database.run(with!(sql::DELETE_METER, account: account, meter: meter)),
    }
}

/// What brought the thing that is remembered under a name; `None`: nothing is.
pub(super) fn find_seen(
    database: &Database<'_>,
    account: &str,
    (name, now): (&str, Timestamp),
) -> rusqlite::Result<Option<Option<EffectId>>> {
    let find = with!(sql::FIND_SEEN, account: account, name: name, now: now.as_millis());
    database.find(find, |row| parsed_if_any(row, 0))
}

pub(super) fn put_seen(database: &Database<'_>, account: &str, seen: &Seen) -> rusqlite::Result<()> {
    let bearer = seen.bearer.map(|id| id.to_string());
    database.run(with!(sql::PUT_SEEN,
        account: account, name: seen.name, bearer: bearer, until: seen.until.as_millis()))
}
