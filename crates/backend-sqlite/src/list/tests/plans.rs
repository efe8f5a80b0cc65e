//! Every statement of a listing goes straight to its rows.

use super::Scratch;
use crate::sql;

/// Read whole: a table of one row, and what a statement itself has found.
const SCANNED: [&str; 2] = ["store", "waiting"];
/// Other parts of the store read these.
const ELSEWHERE: [&str; 1] = ["list_queues"];

#[test]
fn no_listing_scans_a_table() {
    let scratch = Scratch::new();
    let listings = sql::ALL.into_iter().filter(|(name, _)| name.starts_with("list_"));
    let mut seen = 0;
    for (name, statement) in listings.filter(|(name, _)| !ELSEWHERE.contains(name)) {
        for step in sql::tests::plan(&scratch.0, statement) {
            let table = step.strip_prefix("SCAN ").unwrap_or("store");
            let is_small = SCANNED.contains(&table) || table.starts_with("(subquery");
            assert!(is_small, "{name}: {step}");
            assert!(!step.contains("TEMP B-TREE"), "{name}: {step}");
        }
        seen += 1;
    }
    assert!(seen > 15, "the statements are found");
}
