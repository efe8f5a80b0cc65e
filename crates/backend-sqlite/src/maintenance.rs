//! Cleaning up behind the calls, little by little: each run is short, so that no write waits long for it.

use ff_backend::query::FEED_KEPT_FOR;
use ff_core::limits::GRANT_TTL_MAX;
use ff_core::partition::Family;
use rusqlite::{OptionalExtension, Params};

use crate::batch::Batch;

/// Rows deleted at most in one run.
const ROWS_PER_RUN: usize = 256;
/// Frames deleted at most in one run: they are larger than other rows.
const FRAMES_PER_RUN: usize = 64;

/// Deletes rows of one kind, about so many at most; how many it deleted.
type Sweep = fn(&mut Batch<'_>, usize) -> rusqlite::Result<usize>;

const SWEEPS: [(Sweep, usize); 8] = [
    (forget_keys, ROWS_PER_RUN),
    (forget_settings, ROWS_PER_RUN),
    (forget_budget_reports, ROWS_PER_RUN),
    (forget_tombstones, ROWS_PER_RUN),
    (clear_deleted_quotas, ROWS_PER_RUN),
    (forget_frames, FRAMES_PER_RUN),
    (clear_deleted_streams, FRAMES_PER_RUN),
    (trim_feed, ROWS_PER_RUN),
];

/// One short run; whether there is more to clean up.
pub(crate) fn tidy(batch: &mut Batch<'_>) -> rusqlite::Result<bool> {
    let (mut left, mut more) = (ROWS_PER_RUN, false);
    for (sweep, most) in SWEEPS {
        let limit = most.min(left);
        let deleted = sweep(batch, limit)?;
        more |= deleted >= limit;
        left = left.saturating_sub(deleted);
        if left == 0 {
            return Ok(true);
        }
    }
    Ok(more)
}

/// One by one: SQLite finds rows by a list of keys of three columns by the first column only.
fn forget_keys(batch: &mut Batch<'_>, limit: usize) -> rusqlite::Result<usize> {
    let mut statement = batch.statement(include_str!("../sql/list_expired_keys.sql"))?;
    let expired = statement.query_map((batch.now.as_millis(), limit), |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?))
    })?;
    let expired = expired.collect::<rusqlite::Result<Vec<(u16, String, String)>>>()?;
    for key in &expired {
        batch.run(include_str!("../sql/delete_key.sql"), (key.0, &key.1, &key.2))?;
    }
    Ok(expired.len())
}

fn forget_settings(batch: &mut Batch<'_>, limit: usize) -> rusqlite::Result<usize> {
    count(
        batch,
        include_str!("../sql/tidy_settings.sql"),
        (batch.now.as_millis(), limit),
    )
}

fn forget_budget_reports(batch: &mut Batch<'_>, limit: usize) -> rusqlite::Result<usize> {
    count(
        batch,
        include_str!("../sql/tidy_budget_reports.sql"),
        (batch.now.as_millis(), limit),
    )
}

fn forget_tombstones(batch: &mut Batch<'_>, limit: usize) -> rusqlite::Result<usize> {
    let until = batch.now - GRANT_TTL_MAX;
    count(
        batch,
        include_str!("../sql/tidy_tombstones.sql"),
        (until.as_millis(), limit),
    )
}

/// Slots and places of deleted quota policies.
fn clear_deleted_quotas(batch: &mut Batch<'_>, limit: usize) -> rusqlite::Result<usize> {
    let mut deleted = 0;
    while let Some(left) = left_of(limit, deleted) {
        let Some(id): Option<String> = first(batch, include_str!("../sql/first_leftover.sql"), [])? else {
            break;
        };
        let slots = count(batch, include_str!("../sql/delete_leftover_slots.sql"), (&id, left))?;
        let places = count(
            batch,
            include_str!("../sql/delete_leftover_places.sql"),
            (&id, left - slots),
        )?;
        deleted += slots + places;
        if slots + places < left {
            deleted += count(batch, include_str!("../sql/delete_leftover.sql"), [&id])?;
        }
    }
    Ok(deleted)
}

/// Best-effort frames whose time is over.
fn forget_frames(batch: &mut Batch<'_>, limit: usize) -> rusqlite::Result<usize> {
    let mut deleted = 0;
    while let Some(left) = left_of(limit, deleted) {
        let expired = include_str!("../sql/first_expired_frame.sql");
        let Some(stream_row): Option<i64> = first(batch, expired, [batch.now.as_millis()])? else {
            break;
        };
        let frames = batch.delete_expired_frames(stream_row, left)?;
        batch.run(include_str!("../sql/shrink_stream.sql"), (stream_row, frames))?;
        deleted += frames;
    }
    Ok(deleted)
}

/// The output of executions that were deleted.
fn clear_deleted_streams(batch: &mut Batch<'_>, limit: usize) -> rusqlite::Result<usize> {
    let mut deleted = 0;
    while let Some(left) = left_of(limit, deleted) {
        let stream = include_str!("../sql/first_deleted_stream.sql");
        let Some(stream_row): Option<i64> = first(batch, stream, [])? else {
            break;
        };
        let frames = count(
            batch,
            include_str!("../sql/delete_first_frames.sql"),
            (stream_row, left),
        )?;
        batch.run(include_str!("../sql/shrink_stream.sql"), (stream_row, frames))?;
        deleted += frames;
        if frames < left {
            batch.run(include_str!("../sql/delete_summary.sql"), [stream_row])?;
            deleted += count(batch, include_str!("../sql/delete_stream.sql"), [stream_row])?;
        }
    }
    Ok(deleted)
}

/// How many may still be deleted, if any.
fn left_of(limit: usize, deleted: usize) -> Option<usize> {
    limit.checked_sub(deleted).filter(|left| *left > 0)
}

/// Lines that are too old, or more than are kept. Rows of the feed are numbered without gaps and in the order of their time.
fn trim_feed(batch: &mut Batch<'_>, limit: usize) -> rusqlite::Result<usize> {
    let last: Option<i64> = first(batch, include_str!("../sql/last_feed_row.sql"), [])?;
    let partitions = u64::from(batch.shared.counts.count(Family::Flow));
    let kept = i64::try_from(batch.shared.feed_lines_max.saturating_mul(partitions)).unwrap_or(i64::MAX);
    let too_many = last.unwrap_or(0).saturating_sub(kept);
    let too_old = (batch.now - FEED_KEPT_FOR).as_millis();
    let end = include_str!("../sql/end_of_old_feed.sql");
    let Some(end): Option<i64> = first(batch, end, (limit, too_old, too_many))? else {
        return Ok(0);
    };
    let floor = include_str!("../sql/move_feed_floor.sql");
    batch.run(floor, (end, batch.now.as_millis()))?;
    batch.run(include_str!("../sql/note_trimmed_feed.sql"), [end])?;
    count(batch, include_str!("../sql/delete_feed.sql"), [end])
}

fn count(batch: &Batch<'_>, sql: &'static str, params: impl Params) -> rusqlite::Result<usize> {
    batch.statement(sql)?.execute(params)
}

/// The first column of the first row; `NULL` and no row are the same.
fn first<T: rusqlite::types::FromSql>(
    batch: &Batch<'_>,
    sql: &'static str,
    params: impl Params,
) -> rusqlite::Result<Option<T>> {
    let found = batch
        .statement(sql)?
        .query_row(params, |row| row.get::<_, Option<T>>(0))
        .optional()?;
    Ok(found.flatten())
}

#[cfg(test)]
mod tests;
