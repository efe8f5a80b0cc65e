//! Cleaning up behind the calls, little by little: each run is short, so that no write waits long for it.

use ff_backend::query::FEED_KEPT_FOR;
use ff_core::partition::Family;
use rusqlite::Params;

use crate::batch::Batch;
use crate::column::integer;
use crate::database::Asked;
use crate::sql::{self, with};

/// Rows deleted at most in one run.
const ROWS_PER_RUN: usize = 256;
/// Frames deleted at most in one run: they are larger than other rows.
const FRAMES_PER_RUN: usize = 64;

/// Deletes some rows of one kind, about so many at most; how many it deleted, which is none once nothing is left.
type Sweep = fn(&mut Batch<'_>, usize) -> rusqlite::Result<usize>;

const SWEEPS: [(Sweep, usize); 7] = [
    (forget_records, ROWS_PER_RUN),
    (forget_settings, ROWS_PER_RUN),
    (forget_seen, ROWS_PER_RUN),
    (forget_places, ROWS_PER_RUN),
    (forget_frames, FRAMES_PER_RUN),
    (clear_deleted_streams, FRAMES_PER_RUN),
    (trim_feed, ROWS_PER_RUN),
];

/// One short run; whether there is more to clean up.
pub(crate) fn tidy(batch: &mut Batch<'_>) -> rusqlite::Result<bool> {
    let (mut left, mut more) = (ROWS_PER_RUN, false);
    for (sweep, most) in SWEEPS {
        let (limit, mut deleted) = (most.min(left), 0);
        while deleted < limit {
            match sweep(batch, limit - deleted)? {
                0 => break,
                some => deleted += some,
            }
        }
        more |= deleted >= limit;
        left = left.saturating_sub(deleted);
        if left == 0 {
            return Ok(true);
        }
    }
    Ok(more)
}

/// One by one: SQLite finds rows by a list of keys of two columns by the first column only.
fn forget_records(batch: &mut Batch<'_>, limit: usize) -> rusqlite::Result<usize> {
    let expired = with!(sql::LIST_EXPIRED_RECORDS, now: batch.now.as_millis(), limit: limit);
    let expired: Vec<(String, u16)> = batch.database.all(expired, |row| row.try_into())?;
    for (key, partition) in &expired {
        let delete = with!(sql::DELETE_RECORD, key: key, partition: partition);
        batch.database.run(delete)?;
    }
    Ok(expired.len())
}

fn forget_settings(batch: &mut Batch<'_>, limit: usize) -> rusqlite::Result<usize> {
    let tidy = with!(sql::TIDY_SETTINGS, now: batch.now.as_millis(), limit: limit);
    batch.database.change(tidy)
}

/// Names under which something was drawn, and grants that were refused.
fn forget_seen(batch: &mut Batch<'_>, limit: usize) -> rusqlite::Result<usize> {
    let tidy = with!(sql::TIDY_SEEN, now: batch.now.as_millis(), limit: limit);
    batch.database.change(tidy)
}

/// Places of an account that never count again. Most of them go when others are taken.
fn forget_places(batch: &mut Batch<'_>, limit: usize) -> rusqlite::Result<usize> {
    // What calls of this batch have made of the logs is known to the rows then.
    batch.write_accounts()?;
    let database = &batch.database;
    let found: Option<(String, usize, usize)> =
        database.find(with!(sql::FIRST_ACCOUNT_WITH_PAST), |row| row.try_into())?;
    let Some((account, oldest, first)) = found else {
        return Ok(0);
    };
    let before = first.min(oldest + limit);
    database.run(with!(sql::DELETE_PLACES, account: account, before: before))?;
    database.run(with!(sql::SET_OLDEST_PLACE, number: before, account: account))?;
    Ok(before - oldest)
}

/// Best-effort frames of a stream whose time is over.
fn forget_frames(batch: &mut Batch<'_>, limit: usize) -> rusqlite::Result<usize> {
    let expired = with!(sql::FIRST_EXPIRED_FRAME, now: batch.now.as_millis());
    let Some(stream) = first(batch, expired)? else {
        return Ok(0);
    };
    let frames = batch.delete_expired_frames(stream, limit)?;
    batch.shrink_stream(stream, frames)?;
    Ok(frames)
}

/// The output of an attempt whose execution was deleted.
fn clear_deleted_streams(batch: &mut Batch<'_>, limit: usize) -> rusqlite::Result<usize> {
    let Some(stream) = first(batch, with!(sql::FIRST_DELETED_STREAM))? else {
        return Ok(0);
    };
    let database = &batch.database;
    let frames = database.change(with!(sql::DELETE_FIRST_FRAMES, stream: stream, limit: limit))?;
    batch.shrink_stream(stream, frames)?;
    if frames == limit {
        return Ok(frames);
    }
    database.run(with!(sql::DELETE_SUMMARY, stream: stream))?;
    Ok(frames + database.change(with!(sql::DELETE_STREAM, row: stream))?)
}

/// Lines that are too old, or more than are kept. Rows of the feed are numbered without gaps and in the order of their time.
fn trim_feed(batch: &mut Batch<'_>, limit: usize) -> rusqlite::Result<usize> {
    let last = first(batch, with!(sql::LAST_FEED_ROW))?;
    let options = &batch.shared.options;
    let partitions = usize::from(options.counts.count(Family::Flow));
    let kept = options.feed_lines_max.saturating_mul(partitions);
    let too_many = last.unwrap_or(0).saturating_sub(integer(kept));
    let too_old = (batch.now - FEED_KEPT_FOR).as_millis();
    let end = with!(sql::END_OF_OLD_FEED, limit: limit, too_old: too_old, too_many: too_many);
    let Some(floor) = first(batch, end)? else {
        return Ok(0);
    };
    let database = &batch.database;
    database.run(with!(sql::MOVE_FEED_FLOOR, floor: floor, now: batch.now.as_millis()))?;
    database.run(with!(sql::NOTE_TRIMMED_FEED, floor: floor))?;
    database.change(with!(sql::DELETE_FEED, floor: floor))
}

/// The number in the first row; `NULL` and no row are the same.
fn first(batch: &Batch<'_>, asked: Asked<impl Params>) -> rusqlite::Result<Option<i64>> {
    let found = batch.database.find(asked, |row| row.get(0))?;
    Ok(found.flatten())
}

#[cfg(test)]
mod tests;
