//! docs/reference/pump.md, printed from the table of duties.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::duty::{ROWS, Row};

const HEAD: &str = "\
# What time does

One pump per process takes what is due and does it. Whatever it does not get to is due until somebody does, so a process that dies
in between costs time and nothing else. Each row is one `Duty` of `crates/engine/src/pump/duty.rs`, from which this page
is printed (`just pages`). `crates/engine/tests/engine/rows.rs` turns each of them off in turn and sees its test go red (`just rows`
prints the list).

| what is due | what happens | duty | file in `crates/engine/src/pump/` |
|---|---|---|---|
";

const TAIL: &str = "
Nothing is polled. The pump sleeps until the next moment the store named, until a hint says that something is due earlier, or until its own
process left something to do. An idle engine asks what is due once per liveness sweep and renews its ranges every five seconds.

A record whose handling keeps failing is pushed back, from one second up to five minutes, logged and listed by `Engine::poisoned` and, with what else a person should look at, by `list_problems`; it stalls
nobody else.
";

#[test]
fn the_page_of_duties_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/pump.md");
    let page = page();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &page).expect("the page can be written");
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == page,
        "docs/reference/pump.md is out of date: run `just pages`"
    );
}

#[test]
fn the_files_of_every_duty_are_there() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/pump");
    for file in ROWS.iter().flat_map(|row| row.files) {
        assert!(folder.join(file).is_file(), "{file} is not in src/pump");
    }
}

fn page() -> String {
    let mut page = HEAD.to_owned();
    for Row {
        duty,
        due,
        effect,
        files,
    } in ROWS
    {
        let files: Vec<String> = files.iter().map(|file| format!("`{file}`")).collect();
        let (name, files) = (duty.as_str(), files.join(", "));
        writeln!(page, "| {due} | {effect} | `{name}` | {files} |").expect("text grows");
    }
    page + TAIL
}
