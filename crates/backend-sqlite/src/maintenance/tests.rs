//! What goes, what stays, and how much of it in one run.

use tempfile::TempDir;

use super::*;
use crate::backend::SqliteBackend;
use crate::options::Options;

fn store() -> (TempDir, SqliteBackend) {
    let directory = tempfile::tempdir().unwrap();
    let options = Options {
        counts: ff_core::partition::PartitionCounts::new(2, 1, 1).unwrap(),
        feed_lines_max: 100,
        ..Options::new(directory.path().join("store.db"))
    };
    let store = SqliteBackend::open(&options).unwrap();
    (directory, store)
}

/// Sets a scene with `sql`, whose `:now` is now, and tidies up; the rows of `table` after each run. The writer tidies up
/// by itself as well, so all of it happens in one job.
async fn tidied(store: &SqliteBackend, sql: &'static str, table: &'static str) -> Vec<u64> {
    let count = move |batch: &Batch<'_>| {
        let sql = format!("SELECT count(*) FROM {table}");
        batch.database.connection.query_row(&sql, [], |row| row.get(0))
    };
    let runs = store.writer.write(move |batch| {
        batch
            .database
            .connection
            .execute_batch(&sql.replace(":now", &batch.now.as_millis().to_string()))?;
        let mut rows = vec![count(batch)?];
        while tidy(batch)? {
            rows.push(count(batch)?);
        }
        rows.push(count(batch)?);
        Ok(rows)
    });
    runs.await.unwrap()
}

async fn number(store: &SqliteBackend, sql: &'static str) -> u64 {
    let found = store
        .writer
        .write(move |batch| batch.database.connection.query_row(sql, [], |row| row.get::<_, u64>(0)));
    found.await.unwrap()
}

/// A table expression of numbers.
macro_rules! numbers {
    ($count:literal) => {
        concat!(
            "WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ",
            $count,
            ") "
        )
    };
}

#[tokio::test]
async fn what_is_over_goes_in_short_runs_and_the_rest_stays() {
    let (_directory, store) = store();
    let keys = concat!(
        numbers!(600),
        "INSERT INTO record (key, partition, version, tag, expires_at, body)
         SELECT 'submission_key:default/' || n, 0, 1, 0, CASE n % 2 WHEN 0 THEN :now ELSE :now + 60000 END, '' FROM number"
    );
    assert_eq!(tidied(&store, keys, "record").await, [600, 344, 300]);
    let settings = concat!(
        numbers!(9),
        "INSERT INTO setting SELECT n, n, n, 0, CASE n WHEN 1 THEN NULL ELSE :now END FROM number"
    );
    assert_eq!(tidied(&store, settings, "setting").await, [9, 1]);
}

#[tokio::test]
async fn what_accounts_need_not_remember_goes() {
    let (_directory, store) = store();
    let seen = concat!(
        numbers!(400),
        "INSERT INTO seen SELECT 'budget:a', n, NULL, CASE n % 4 WHEN 0 THEN :now + 60000 ELSE :now END FROM number"
    );
    assert_eq!(tidied(&store, seen, "seen").await, [400, 144, 100]);
    let places = concat!(
        "INSERT INTO account (account, partition, version, revision, body, due_stamp, generation, marks, oldest_place,
            first_place, next_place, gaps)
         VALUES ('quota:a', '{q:0}', 1, 1, '', 0, 0, 0, 1, 301, 401, 0), ('quota:b', '{q:0}', 1, 1, '', 0, 0, 0, 1, 101, 401, 0);",
        numbers!(400),
        "INSERT INTO place SELECT account, n, 0, n FROM number CROSS JOIN account"
    );
    assert_eq!(tidied(&store, places, "place").await, [800, 544, 400]);
    let kept = "SELECT count(*) FROM place WHERE number >= iif(account = 'quota:a', 301, 101)";
    assert_eq!(number(&store, kept).await, 400);
}

#[tokio::test]
async fn frames_go_when_their_time_is_over_or_their_execution_is_gone() {
    let (_directory, store) = store();
    let sql = concat!(
        "INSERT INTO stream VALUES (1, 'a', 0, 0, 100, 0, 0, 0, NULL, NULL, 0), (2, 'b', 0, 0, 100, 0, 0, 0, NULL, NULL, 1);
         INSERT INTO summary VALUES (1, x''), (2, x'');",
        numbers!(200),
        "INSERT INTO frame SELECT 1 + n % 2, n, 0, 'log', NULL, CASE WHEN n <= 40 THEN :now END, 'text/plain', x'', NULL FROM number"
    );
    assert_eq!(tidied(&store, sql, "frame").await, [200, 96, 80]);
    assert_eq!(tidied(&store, "", "summary").await, [1, 1]);
    assert_eq!(number(&store, "SELECT sum(frames) FROM stream").await, 80);
}

#[tokio::test]
async fn the_feed_keeps_so_many_lines_of_one_day() {
    let (_directory, store) = store();
    let sql = concat!(
        numbers!(500),
        "INSERT INTO feed (partition, millis, line) SELECT 0, :now, '' FROM number"
    );
    assert_eq!(
        tidied(&store, sql, "feed").await,
        [500, 244, 200],
        "100 lines for each of two partitions"
    );
    store.advance_clock(FEED_KEPT_FOR);
    assert_eq!(tidied(&store, "", "feed").await, [200, 0]);
    assert_eq!(number(&store, "SELECT feed_floor FROM store").await, 500);
}

#[tokio::test]
async fn freed_pages_are_used_again() {
    let (_directory, store) = store();
    let pages = async |sql: &'static str| {
        let pages = store.writer.write(move |batch| {
            batch.database.connection.execute_batch(sql)?;
            batch
                .database
                .connection
                .pragma_query_value(None, "page_count", |row| row.get::<_, u64>(0))
        });
        pages.await.unwrap()
    };
    let full = pages("INSERT INTO input VALUES (1, '', zeroblob(8000000))").await;
    pages("DELETE FROM input").await;
    let again = pages("INSERT INTO input VALUES (2, '', zeroblob(8000000))").await;
    assert_eq!(again, full, "what was deleted made room");
}
