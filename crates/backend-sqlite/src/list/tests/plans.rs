//! Every statement of a listing goes straight to its rows.

use std::path::Path;

use rusqlite::params_from_iter;
use rusqlite::types::Null;

use super::Scratch;

/// Statements that sort, each no more than one call may look at.
const SORTING: [&str; 1] = ["list_executions_of_flow.sql"];
/// Read whole: tables of one row, what a statement itself has found, and the partitions it takes.
const SCANNED: [&str; 7] = [
    "store",
    "held",
    "waiting",
    "leased",
    "best",
    "json_each VIRTUAL TABLE INDEX 1:",
    "json_each",
];
/// Other parts of the store read these.
const ELSEWHERE: [&str; 1] = ["list_queues.sql"];

#[test]
fn no_listing_scans_a_table() {
    let scratch = Scratch::new();
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("sql");
    let mut seen = 0;
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if name.starts_with("list_") && !ELSEWHERE.contains(&name) {
            check(&scratch, name, &std::fs::read_to_string(&path).unwrap());
            seen += 1;
        }
    }
    assert!(seen > 30, "the statements are found");
}

fn check(scratch: &Scratch, name: &str, sql: &str) {
    let mut statement = scratch.0.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    let parameters = vec![Null; statement.parameter_count()];
    let steps = statement
        .query_map(params_from_iter(parameters), |row| row.get::<_, String>(3))
        .unwrap();
    for step in steps.map(Result::unwrap) {
        let table = step.strip_prefix("SCAN ").unwrap_or("held");
        assert!(
            SCANNED.contains(&table) || table.starts_with("(subquery"),
            "{name}: {step}"
        );
        assert!(
            SORTING.contains(&name) || !step.contains("TEMP B-TREE"),
            "{name}: {step}"
        );
    }
}
