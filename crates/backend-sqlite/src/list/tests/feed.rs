//! Feeds that others crowd, and feeds that were trimmed.

use ff_backend::Error;
use ff_backend::query::{Cursor, FeedPosition, Listing, Page};
use ff_core::partition::Partition;
use ff_core::record::HistoryLine;

use super::{Scratch, Template};

const QUIET: u16 = 1;
const BUSY: u16 = 2;

/// A feed of `count` rows, all of them of the busy partition but those named; row `n` is written at `10 * n`.
fn crowded(count: u64, quiet_rows: &[u64]) -> Scratch {
    let (scratch, template) = (Scratch::new(), Template::new());
    let line = serde_json::to_string(&HistoryLine {
        detail: Some("told".to_owned()),
        ..template.line
    })
    .unwrap();
    let sql = "INSERT INTO feed (partition, millis, line) VALUES (?1, ?2, ?3)";
    for row in 1..=count {
        let partition = if quiet_rows.contains(&row) { QUIET } else { BUSY };
        scratch
            .0
            .prepare_cached(sql)
            .unwrap()
            .execute((partition, 10 * row, &line))
            .unwrap();
    }
    scratch
}

fn trim(scratch: &Scratch, floor: u64) {
    let note = include_str!("../../../sql/note_trimmed_feed.sql");
    scratch.0.execute(note, [floor]).unwrap();
    scratch.0.execute("DELETE FROM feed WHERE row <= ?1", [floor]).unwrap();
    scratch.0.execute("UPDATE store SET feed_floor = ?1", [floor]).unwrap();
}

fn at(row: u64) -> FeedPosition {
    FeedPosition {
        millis: 10 * row,
        sequence: row,
    }
}

fn after(scratch: &Scratch, cursor: Cursor) -> Result<Vec<FeedPosition>, Error> {
    let page = scratch.page(&Listing::Feed(Partition::flow(QUIET)), Some(cursor), 100)?;
    Ok(page.feed().into_iter().map(|(position, _)| position).collect())
}

#[test]
fn a_quiet_partition_is_read_past_the_lines_of_others() {
    let scratch = crowded(12_000, &[3, 7_000, 12_000]);
    let (rows, pages) = scratch.follow(&Listing::Feed(Partition::flow(QUIET)), 100, Page::feed);
    assert_eq!(
        rows.into_iter().map(|(position, _)| position).collect::<Vec<_>>(),
        [at(3), at(7_000), at(12_000)]
    );
    assert_eq!(pages, 3);
}

#[test]
fn a_reader_at_the_end_is_told_nothing_and_goes_on_later() {
    let scratch = crowded(20, &[20]);
    assert_eq!(after(&scratch, at(20).cursor()), Ok(vec![]));
    assert_eq!(after(&scratch, at(19).cursor()), Ok(vec![at(20)]));
}

#[test]
fn a_reader_whose_lines_may_be_trimmed_is_told_the_oldest() {
    let scratch = crowded(100, &[10, 60]);
    trim(&scratch, 50);
    let expired = Err(Error::CursorExpired { oldest: Some(at(60)) });
    assert_eq!(after(&scratch, at(9).cursor()), expired);
    assert_eq!(
        after(&scratch, at(10).cursor()),
        Ok(vec![at(60)]),
        "only lines of others were trimmed after it"
    );
    assert_eq!(
        after(&scratch, at(50).cursor()),
        Ok(vec![at(60)]),
        "nothing after it is gone"
    );
    let (rows, _) = scratch.follow(&Listing::Feed(Partition::flow(QUIET)), 1, Page::feed);
    assert_eq!(rows[0].0, at(60));
}

#[test]
fn a_reader_who_saw_lines_that_were_lost_is_told() {
    let scratch = crowded(100, &[60]);
    let expired = Err(Error::CursorExpired { oldest: Some(at(60)) });
    assert_eq!(after(&scratch, at(101).cursor()), expired, "beyond the head");
    let rewritten = FeedPosition {
        millis: 5,
        sequence: 60,
    };
    assert_eq!(
        after(&scratch, rewritten.cursor()),
        expired,
        "another line has its number now"
    );
}

#[test]
fn an_empty_feed_has_no_oldest_line() {
    let scratch = crowded(0, &[]);
    assert_eq!(
        after(&scratch, at(1).cursor()),
        Err(Error::CursorExpired { oldest: None })
    );
    assert_eq!(after(&scratch, Cursor("feed:1".to_owned())), Err(Error::InvalidCursor));
}
