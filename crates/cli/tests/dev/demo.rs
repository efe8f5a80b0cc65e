//! The demonstration, as the terminal shows it.

use std::process::Command;

use crate::running::Dev;
use crate::{ff, stdout};

/// Everything that was told about somebody, in order.
fn about(told: &str, who: &str) -> Vec<String> {
    let lines = told.lines().filter_map(|line| line.strip_prefix(who));
    let lines = lines.filter(|line| line.starts_with(' '));
    lines.map(|line| line.trim().to_owned()).collect()
}

#[test]
fn a_worker_is_killed_and_what_it_did_is_neither_done_nor_paid_again() {
    let folder = tempfile::tempdir().unwrap();
    let told = stdout(
        &ff(folder.path())
            .args(["dev", "--exit", "--port", "0"])
            .output()
            .unwrap(),
    );
    assert!(folder.path().join(".ff/dev.db").is_file());
    let expected = [
        "submitted: demo.agent, lane demo.agent",
        "runs in process 1",
        "llm#0     \"Ana has three orders. I look them up.\"  (310 tokens)",
        "search#0  \"17: sent, 18: sent, 19: late\"",
        "llm#1     \"19 is late. I ask the carrier.\"  (240 tokens)",
        "process 1 is killed (kill -9): it says goodbye to nobody",
        "its worker is gone: the lease has run out",
        "runs in process 2, again from its first line",
        "llm#0     from the journal: not asked again, not paid again",
        "search#0  from the journal: not done again",
        "llm#1     from the journal: not asked again, not paid again",
        "search#1  \"19 comes tomorrow\"",
        "llm#2     \"Your order 19 comes tomorrow.\"  (250 tokens)",
        "completed: \"Your order 19 comes tomorrow.\"",
        "asked the model 3 times and paid 800 tokens: the budget is at 80 %",
    ];
    assert_eq!(about(&told, "demo-agent"), expected, "{told}");
    for (who, last) in [
        (
            "demo-haiku",
            "completed: \"an old silent pond a frog jumps into the pond sp…",
        ),
        (
            "demo-proverb",
            "completed: \"what was written down survives who wrote it and …",
        ),
        ("demo-book", "flow of 12: 12 completed"),
        ("demo-refund", "asks you: Refund 120 EUR to Ana?"),
        ("demo-publish", "asks you: Publish \"What is durable?\""),
    ] {
        assert_eq!(about(&told, who).last().unwrap(), last, "{told}");
    }
    let wide: Vec<_> = told.lines().filter(|line| line.chars().count() > 80).collect();
    assert!(wide.is_empty(), "these lines do not fit into 80 columns: {wide:#?}");
}

/// Runs a line that was shown, as a person would who pastes it.
fn paste(line: &str) -> String {
    stdout(&Command::new("sh").args(["-c", line]).output().unwrap())
}

#[test]
fn what_it_says_to_try_works_also_the_second_time() {
    let folder = tempfile::tempdir().unwrap();
    for _ in 0..2 {
        let dev = Dev::start(folder.path(), &[]);
        dev.running.until("Press Ctrl-C to stop.");
        let told = dev.running.told();
        let (_, turn) = told.split_once("Your turn").unwrap();
        let lines = turn.lines().filter_map(|line| line.strip_prefix("  "));
        let commands: Vec<&str> = lines.filter(|line| !line.starts_with(' ')).collect();
        let [approve, steps, submit, init] = commands[..] else {
            panic!("other lines than were tried: {commands:#?}");
        };
        paste(approve);
        dev.running
            .until("demo-refund   completed: \"120 EUR were sent to Ana\"");
        let recorded = paste(steps);
        assert!(
            recorded.contains("llm#2") && recorded.contains("search#1"),
            "{recorded}"
        );
        assert_eq!(paste(submit).trim(), "\"hello hello hello\"");
        let elsewhere = tempfile::tempdir().unwrap();
        paste(&format!("cd {} && {init}", elsewhere.path().display()));
        assert!(elsewhere.path().join("hello/worker.py").is_file());
        assert!(dev.running.stop().ends_with("Stopping.\n"));
    }
}

#[test]
fn nothing_is_shown_that_nobody_wants_to_see() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["dev", "--empty", "--memory", "--exit", "--port", "0"];
    let told = stdout(&ff(folder.path()).args(arguments).output().unwrap());
    assert!(!told.contains("demo"), "{told}");
    assert!(told.contains("this process: it forgets everything"), "{told}");
    assert!(!folder.path().join(".ff").exists());
}
