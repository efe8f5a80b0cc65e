//! The run command of the README, and what it says to try next.

#![expect(clippy::unwrap_used, reason = "a test that cannot set its scene has failed")]

mod support;

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::Value;

use support::Process;

#[test]
fn dev_shows_executions_being_submitted_claimed_streamed_and_completed() {
    let folder = tempfile::tempdir().unwrap();
    let shown = Command::new(env!("CARGO_BIN_EXE_ff"))
        .args(["dev", "--exit", "--port", "0", "--store"])
        .arg(folder.path().join("dev.db"))
        .output()
        .unwrap();
    let told = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.status.success(), "{told}");
    for word in [
        "created",
        "claimed",
        "retry_scheduled",
        "completed",
        "word 3 of 3",
        "words_written",
    ] {
        assert!(told.contains(word), "{word} is missing in\n{told}");
    }
}

/// Runs a line that was shown, as a person would who has put in what is theirs.
fn run(line: &str, put_in: &[(&str, &str)]) -> String {
    let line = put_in
        .iter()
        .fold(line.to_owned(), |line, (word, value)| line.replace(word, value));
    let ran = Command::new("sh").args(["-c", &line]).output().unwrap();
    String::from_utf8(ran.stdout).unwrap()
}

fn json(told: &str) -> Value {
    serde_json::from_str(told).unwrap_or_else(|_| panic!("no JSON: {told}"))
}

fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value
        .pointer(pointer)
        .and_then(Value::as_str)
        .unwrap_or_else(|| panic!("no {pointer} in {value}"))
}

#[test]
fn what_dev_says_to_try_works() {
    let folder = tempfile::tempdir().unwrap();
    let mut dev = Command::new(env!("CARGO_BIN_EXE_ff"))
        .args(["dev", "--port", "0", "--store"])
        .arg(folder.path().join("dev.db"))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let told = BufReader::new(dev.stdout.take().unwrap()).lines().map(Result::unwrap);
    let _dev = Process(dev);
    let shown: Vec<String> = told.take_while(|line| !line.starts_with("Press Ctrl-C")).collect();
    let shown = shown.join("\n").replace("\\\n", " ");
    let lines: Vec<&str> = shown.lines().filter(|line| line.starts_with("  curl ")).collect();
    let [submit, get, events, claim, redeem, complete] = lines[..] else {
        panic!("other lines than were tried: {lines:#?}");
    };

    let created = json(&run(submit, &[]));
    let id = text(&created, "/execution_id").replace(['{', '}'], "");
    let get_it = get.split("  (").next().unwrap();
    assert_eq!(
        json(&run(get_it, &[("EXECUTION_ID", &id)]))["execution_id"],
        created["execution_id"]
    );
    let followed = run(&format!("{events} --max-time 1 -w '%{{http_code}}'"), &[]);
    assert!(followed.ends_with("200"), "{followed}");

    let created = json(&run(submit, &[("\"lane_id\":\"demo\",", "")]));
    let id = text(&created, "/execution_id").replace(['{', '}'], "");
    let claimed = json(&run(claim, &[]));
    let redeemed = json(&run(redeem, &[("GRANT", text(&claimed, "/grant"))]));
    let completed = run(
        complete,
        &[
            ("EXECUTION_ID", id.as_str()),
            (
                "\"lease_id\":\"...\"",
                &format!("\"lease_id\":\"{}\"", text(&redeemed, "/lease_id")),
            ),
            (
                "\"attempt_id\":\"...\"",
                &format!("\"attempt_id\":\"{}\"", text(&redeemed, "/attempt_id")),
            ),
        ],
    );
    assert_eq!(json(&completed)["status"], "completed", "{completed}");
    assert_eq!(
        json(&run(get_it, &[("EXECUTION_ID", &id)]))["public_state"],
        "completed"
    );
}
