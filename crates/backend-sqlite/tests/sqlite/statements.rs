//! Every statement in `sql/` is one that the schema knows, says what it does, and finds its rows without looking at all.

use std::fs;
use std::path::Path;

use ff_backend_sqlite::{Options, SqliteBackend};
use rusqlite::Connection;
use tempfile::TempDir;

/// Statements that go through a table: once, when the store is opened; only as far as their limit; or a small one.
const MAY_SCAN: &[&str] = &[
    "count_queued.sql",
    "list_queues.sql",
    "create_counts.sql",
    "create_migration_table.sql",
    "read_counts.sql",
    "update_store.sql",
    "move_feed_floor.sql",
    "note_trimmed_feed.sql",
    "list_feed_extent.sql",
    "list_feed_moment.sql",
    "last_feed_line.sql",
    "end_of_old_feed.sql",
    "first_leftover.sql",
    "first_deleted_stream.sql",
];

fn schema() -> (TempDir, Connection) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.db");
    drop(SqliteBackend::open(&Options::new(&path)).unwrap());
    let connection = Connection::open(path).unwrap();
    (directory, connection)
}

fn statements() -> Vec<(String, String)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("sql");
    let files = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
    let mut statements: Vec<_> = files
        .map(|file| {
            let name = file.file_name().into_string().unwrap();
            (name, fs::read_to_string(file.path()).unwrap())
        })
        .collect();
    statements.sort_unstable();
    statements
}

#[test]
fn every_statement_starts_with_what_it_does_and_what_it_takes() {
    for (name, text) in statements() {
        let mut lines = text.lines();
        assert!(lines.next().is_some_and(|line| line.starts_with("-- ")), "{name}");
        assert!(lines.next().is_some_and(|line| line.starts_with("-- Takes ")), "{name}");
    }
}

#[test]
fn every_statement_is_prepared_against_the_schema() {
    let (_directory, connection) = schema();
    for (name, text) in statements() {
        connection
            .prepare(&text)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn no_statement_scans_a_table_that_grows() {
    let (_directory, connection) = schema();
    let mut listed = connection
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
        .unwrap();
    let tables: Vec<String> = listed
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let mut scans = Vec::new();
    for (name, text) in statements()
        .into_iter()
        .filter(|(name, _)| !MAY_SCAN.contains(&name.as_str()))
    {
        let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {text}")).unwrap();
        for number in 1..=statement.parameter_count() {
            statement.raw_bind_parameter(number, "[]").unwrap();
        }
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next().unwrap() {
            let step: String = row.get(3).unwrap();
            if let Some(table) = step.strip_prefix("SCAN ").and_then(|scanned| scanned.split(' ').next())
                && tables.iter().any(|known| known == table)
            {
                scans.push(format!("{name}: {step}"));
            }
        }
    }
    assert_eq!(scans, [""; 0]);
}
