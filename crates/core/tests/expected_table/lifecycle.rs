//! Prints `docs/reference/lifecycle.md` from what the machine does, so that the page cannot say anything else.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use crate::operations::{Cast, operation};
use crate::render::Answer;

/// The events the page shows, in the order of an execution's life.
const EVENTS: [&str; 33] = [
    "claim",
    "claim_from_grant (right worker)",
    "block",
    "unblock",
    "renew (own fence)",
    "update_progress (own fence)",
    "report_usage (own fence)",
    "create_pending_waitpoint (own fence)",
    "complete (own fence)",
    "fail (retries left)",
    "fail (retries exhausted)",
    "fail (no retry policy)",
    "release (own fence)",
    "delay (own fence)",
    "wait_children (unresolved)",
    "wait_children (impossible)",
    "wait_children (no dependencies)",
    "suspend (own fence)",
    "suspend (condition already met)",
    "deliver_signal (active waitpoint, matching name)",
    "deliver_signal (active waitpoint, other name)",
    "resume_execution",
    "apply_dependency_to_child (upstream open)",
    "apply_dependency_to_child (upstream failed, success_only)",
    "hold",
    "unhold",
    "change_priority",
    "revoke_lease (no epoch)",
    "issue_reclaim_grant",
    "cancel_execution (operator)",
    "replay_execution (below max)",
    "advance",
    "advance (further timers)",
];

/// What one event does, by the state it is sent to.
#[derive(Default)]
struct Row {
    /// From state, to states.
    moves: BTreeMap<String, BTreeSet<String>>,
    /// Answer, situations.
    answers: BTreeMap<String, Vec<&'static str>>,
}

#[test]
fn the_lifecycle_page_is_what_the_machine_does() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/lifecycle.md");
    let page = page();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &page).expect("docs/reference/lifecycle.md can be written");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        committed, page,
        "docs/reference/lifecycle.md is out of date: run `just pages`"
    );
}

fn page() -> String {
    let rows: Vec<(&str, Row)> = EVENTS.iter().map(|event| (*event, row(event))).collect();
    let mut page = String::from(HEAD);
    for state in states(&rows) {
        write_state(&mut page, &state, &rows);
    }
    page.push_str(EVENTS_HEAD);
    for (event, row) in &rows {
        write_event(&mut page, event, row);
    }
    page
}

const HEAD: &str = "# Lifecycle

<!-- Printed by a test from what the machine does: `just pages`. Do not edit. -->

This page shows where each event leads, as `core::machine` decides it. It is printed by running every event in every
situation that an execution can be in (`crates/core/tests/expected/README.md` says how each situation is reached).

*advance* is what time does when the execution's timer is reached.

## From state to state

Only events that lead to another state are shown, sent to executions without an overdue timer; several targets mean that
it depends on the situation.
";

const EVENTS_HEAD: &str = "
## Event by event

For each event, what it answers and in which situations. An arrow leads to the public state afterwards; without one the
event is refused with this code, or has no effect.
";

fn row(event: &str) -> Row {
    let operation = operation(event).expect("an event of the tables");
    let Cast::Each(situations) = &operation.cast else {
        panic!("{event} is not about executions");
    };
    let trial = operation.trials.first().expect("every operation is tried");
    let mut row = Row::default();
    for situation in situations {
        let answer = trial.run(situation).expect("the situation can be reached");
        if let Answer::Accepted { reading, .. } = &answer
            && (event.starts_with("advance") || !is_overdue(situation))
        {
            let from = from_state(situation);
            row.moves
                .entry(from)
                .or_default()
                .insert(reading.public_state().to_owned());
        }
        row.answers.entry(told(&answer)).or_default().push(situation);
    }
    row
}

/// A timer has passed that nobody has looked at yet: an event that finds it also does what was due, which would blur where
/// the event itself leads.
fn is_overdue(situation: &str) -> bool {
    ["-lapsed", "-timeout", "-deadline"]
        .iter()
        .any(|end| situation.ends_with(end))
}

/// The state a situation is stored in; the further timers are named for the situation they start from.
fn from_state(situation: &str) -> String {
    let derive = operation("derive").expect("states are derived");
    let trial = derive.trials.first().expect("states are derived in one way");
    let stored = situation
        .match_indices('-')
        .map(|(end, _)| &situation[..end])
        .chain([situation])
        .filter_map(|name| trial.run(name).ok())
        .next_back();
    match stored {
        Some(Answer::Accepted { reading, .. }) => reading.public_state().to_owned(),
        Some(Answer::Word(_)) | None => "deleting".to_owned(),
    }
}

fn told(answer: &Answer) -> String {
    match answer {
        Answer::Word(word) => format!("`{word}`"),
        Answer::Accepted { reading, .. } => format!("→ {}", reading.public_state()),
    }
}

fn states(rows: &[(&str, Row)]) -> BTreeSet<String> {
    rows.iter().flat_map(|(_, row)| row.moves.keys().cloned()).collect()
}

fn write_state(page: &mut String, state: &str, rows: &[(&str, Row)]) {
    let mut lines = String::new();
    for (event, row) in rows {
        let to = row.moves.get(state).into_iter().flatten();
        let to: Vec<&str> = to.map(String::as_str).filter(|to| *to != state).collect();
        if !to.is_empty() {
            writeln!(lines, "| {event} | {} |", to.join(", ")).expect("a string takes text");
        }
    }
    if !lines.is_empty() {
        write!(page, "\n### {state}\n\n| event | leads to |\n|---|---|\n{lines}").expect("a string takes text");
    }
}

fn write_event(page: &mut String, event: &str, row: &Row) {
    write!(page, "\n### {event}\n\n| answer | situations |\n|---|---|\n").expect("a string takes text");
    for (answer, situations) in &row.answers {
        writeln!(page, "| {answer} | {} |", situations.join(", ")).expect("a string takes text");
    }
}
