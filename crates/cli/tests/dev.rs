//! The run command of the README.

use std::process::Command;

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
