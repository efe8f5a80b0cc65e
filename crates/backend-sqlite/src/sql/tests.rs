//! Every statement is one that the schema knows, and finds its rows without looking at all.

use std::collections::BTreeSet;

use rusqlite::Connection;

use super::{ALL, Statement};
use crate::migrate::create_tables;

/// Statements that go through a table: once, when the store is opened; only as far as their limit; or a small one.
const MAY_SCAN: &[&str] = &[
    "count_queued",
    "list_queues",
    "create_counts",
    "create_migration_table",
    "read_store",
    "read_writer_state",
    "update_store",
    "move_feed_floor",
    "note_trimmed_feed",
    "list_feed_extent",
    "list_feed_moment",
    "end_of_old_feed",
    "first_deleted_stream",
    "first_account_with_past",
];

fn schema() -> Connection {
    let connection = Connection::open_in_memory().unwrap();
    create_tables(&connection).unwrap();
    connection
}

/// What SQLite does to answer a statement.
pub(crate) fn plan(connection: &Connection, statement: Statement) -> Vec<String> {
    let explained = format!("EXPLAIN QUERY PLAN {}", statement.text);
    let mut explained = connection.prepare(&explained).unwrap();
    for number in 1..=explained.parameter_count() {
        explained.raw_bind_parameter(number, "[]").unwrap();
    }
    let steps = explained.raw_query().mapped(|row| row.get(3));
    steps.map(Result::unwrap).collect()
}

#[test]
fn every_statement_is_prepared_against_the_schema() {
    let connection = schema();
    for (name, statement) in ALL {
        let prepared = connection.prepare(statement.text);
        let prepared = prepared.unwrap_or_else(|error| panic!("{name}: {error}"));
        let names: Vec<_> = (1..=prepared.parameter_count())
            .filter_map(|number| prepared.parameter_name(number)?.strip_prefix(':'))
            .collect();
        assert_eq!(names, statement.takes, "{name}");
    }
}

#[test]
fn no_statement_scans_a_table_that_grows() {
    let connection = schema();
    let mut listed = connection
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
        .unwrap();
    let tables = listed.query_map([], |row| row.get::<_, String>(0)).unwrap();
    let tables: BTreeSet<String> = tables.map(Result::unwrap).collect();
    let mut scans = Vec::new();
    for (name, statement) in ALL.into_iter().filter(|(name, _)| !MAY_SCAN.contains(name)) {
        for step in plan(&connection, statement) {
            let scanned = step.strip_prefix("SCAN ").and_then(|scanned| scanned.split(' ').next());
            if scanned.is_some_and(|table| tables.contains(table)) {
                scans.push(format!("{name}: {step}"));
            }
        }
    }
    assert_eq!(scans, [""; 0]);
}
