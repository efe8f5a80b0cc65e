//! Feeds that others crowd, and feeds that were trimmed.

use std::ops::RangeInclusive;

use ff_backend::Error;
use ff_backend::query::{Cursor, FeedPosition, FeedStart, Listing};
use ff_core::partition::Partition;
use ff_core::record::HistoryLine;

use super::{Scratch, Template};
use crate::database::Database;
use crate::list::feed::read_at;
use crate::sql;

const QUIET: u16 = 1;
const BUSY: u16 = 2;

/// A feed of `count` rows, all of them of the busy partition but those named; row `n` is written at `10 * n`.
fn crowded(count: u64, quiet_rows: &[u64]) -> Scratch {
    let scratch = Scratch::new();
    extend(&scratch, 1..=count, quiet_rows);
    scratch
}

fn extend(scratch: &Scratch, rows: RangeInclusive<u64>, quiet_rows: &[u64]) {
    let template = Template::new();
    let line = serde_json::to_string(&HistoryLine {
        detail: Some("told".to_owned()),
        ..template.line
    })
    .unwrap();
    let sql = "INSERT INTO feed (partition, millis, line) VALUES (?1, ?2, ?3)";
    for row in rows {
        let partition = if quiet_rows.contains(&row) { QUIET } else { BUSY };
        scratch
            .0
            .prepare_cached(sql)
            .unwrap()
            .execute((partition, 10 * row, &line))
            .unwrap();
    }
}

fn trim(scratch: &Scratch, floor: u64) {
    scratch.0.execute(sql::MOVE_FEED_FLOOR.text, [floor, 0]).unwrap();
    scratch.0.execute(sql::NOTE_TRIMMED_FEED.text, [floor]).unwrap();
    scratch.0.execute("DELETE FROM feed WHERE row <= ?1", [floor]).unwrap();
}

fn at(row: u64) -> FeedPosition {
    FeedPosition {
        major: 10 * row,
        minor: row,
    }
}

/// The rows a reader of the quiet feed is shown next.
fn after(scratch: &Scratch, position: Option<FeedPosition>) -> Result<Vec<FeedPosition>, Error> {
    from(scratch, start(position))
}

fn start(position: Option<FeedPosition>) -> FeedStart {
    position.map_or(FeedStart::Oldest, FeedStart::After)
}

fn from(scratch: &Scratch, start: FeedStart) -> Result<Vec<FeedPosition>, Error> {
    let asked = vec![(Partition::flow(QUIET), start)];
    let page = scratch.page(&Listing::Feed(asked), None, 100)?;
    Ok(page.feed().into_iter().map(|(_, position, _)| position).collect())
}

fn expired(oldest: Option<FeedPosition>) -> Result<Vec<FeedPosition>, Error> {
    let partition = Partition::flow(QUIET);
    Err(Error::CursorExpired { partition, oldest })
}

#[test]
fn a_quiet_partition_is_read_past_the_lines_of_others() {
    let scratch = crowded(12_000, &[3, 7_000, 12_000]);
    assert_eq!(after(&scratch, None), Ok(vec![at(3), at(7_000), at(12_000)]));
    assert_eq!(after(&scratch, Some(at(3))), Ok(vec![at(7_000), at(12_000)]));
    assert_eq!(after(&scratch, Some(at(12_000))), Ok(vec![]));
}

#[test]
fn spans_of_others_are_walked_once_and_then_passed_over() {
    let scratch = crowded(12_000, &[3, 11_000]);
    assert_eq!(after(&scratch, Some(at(3))), Ok(vec![at(11_000)]));
    scratch.0.execute("DELETE FROM feed WHERE row <= 8192", []).unwrap();
    scratch.0.execute("INSERT INTO feed VALUES (5, 1, 50, '')", []).unwrap();
    scratch.0.execute("INSERT INTO feed VALUES (3, 1, 30, '')", []).unwrap();
    assert_eq!(
        after(&scratch, Some(at(3))),
        Ok(vec![at(11_000)]),
        "a line that was never there when the span was walked is not looked for"
    );
}

#[test]
fn a_growing_feed_is_learned_as_it_grows() {
    let scratch = crowded(100, &[50]);
    assert_eq!(after(&scratch, None), Ok(vec![at(50)]));
    extend(&scratch, 101..=5_000, &[101, 4_096, 4_097]);
    let wanted = vec![at(101), at(4_096), at(4_097)];
    assert_eq!(after(&scratch, Some(at(50))), Ok(wanted));
    extend(&scratch, 5_001..=5_001, &[5_001]);
    assert_eq!(after(&scratch, Some(at(4_097))), Ok(vec![at(5_001)]));
}

#[test]
fn a_reader_at_the_end_is_told_nothing_and_goes_on_later() {
    let scratch = crowded(20, &[19, 20]);
    assert_eq!(after(&scratch, Some(at(20))), Ok(vec![]));
    assert_eq!(after(&scratch, Some(at(19))), Ok(vec![at(20)]));
}

#[test]
fn feeds_are_read_together_in_the_order_of_their_lines() {
    let scratch = crowded(9_000, &[10, 8_000]);
    let asked = |quiet, busy| {
        Listing::Feed(vec![
            (Partition::flow(QUIET), start(quiet)),
            (Partition::flow(BUSY), start(busy)),
        ])
    };
    let page = scratch.page(&asked(None, Some(at(7_998))), None, 4).unwrap();
    let rows: Vec<u64> = page.feed().into_iter().map(|(_, position, _)| position.minor).collect();
    assert_eq!(rows, [10, 7_999, 8_000, 8_001]);
}

#[test]
fn a_reader_whose_lines_may_be_trimmed_is_told_the_oldest() {
    let scratch = crowded(100, &[9, 10, 50, 60]);
    trim(&scratch, 49);
    assert_eq!(after(&scratch, Some(at(9))), expired(Some(at(50))));
    assert_eq!(
        after(&scratch, Some(at(10))),
        Ok(vec![at(50), at(60)]),
        "only lines of others were trimmed after it"
    );
    assert_eq!(
        after(&scratch, Some(at(50))),
        Ok(vec![at(60)]),
        "nothing after it is gone"
    );
    assert_eq!(after(&scratch, None), Ok(vec![at(50), at(60)]));
}

#[test]
fn a_reader_who_began_before_a_trim_is_told_and_one_who_began_after_it_is_not() {
    let scratch = crowded(100, &[9, 60]);
    let begin = || FeedStart::Since(read_at(&Database::new(&scratch.0)).unwrap());
    let (before, rows) = (begin(), after(&scratch, None));
    trim(&scratch, 8);
    assert_eq!(from(&scratch, before), rows, "only lines of others were trimmed");
    trim(&scratch, 49);
    assert_eq!(from(&scratch, before), expired(Some(at(60))));
    assert_eq!(from(&scratch, begin()), Ok(vec![at(60)]));
}

#[test]
fn a_reader_who_saw_lines_that_were_lost_is_told() {
    let scratch = crowded(100, &[60]);
    assert_eq!(after(&scratch, Some(at(101))), expired(Some(at(60))), "beyond the head");
    let rewritten = FeedPosition { major: 5, minor: 60 };
    assert_eq!(
        after(&scratch, Some(rewritten)),
        expired(Some(at(60))),
        "another line has its number now"
    );
}

#[test]
fn an_empty_feed_has_no_oldest_line() {
    let scratch = crowded(0, &[]);
    assert_eq!(after(&scratch, Some(at(1))), expired(None));
}

#[test]
fn a_feed_takes_no_cursor() {
    let scratch = crowded(1, &[1]);
    let cursor = Some(Cursor("feed:1".to_owned()));
    let page = scratch.page(
        &Listing::Feed(vec![(Partition::flow(QUIET), FeedStart::Oldest)]),
        cursor,
        10,
    );
    assert_eq!(page, Err(Error::InvalidCursor));
}
