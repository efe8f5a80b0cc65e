//! What `ff init` writes runs at once.

use std::path::Path;

use serde_json::json;

use crate::running::Dev;
use crate::support::http;
use crate::{example, ff, stderr, stdout};

fn init(folder: &Path, arguments: &[&str]) -> Vec<String> {
    let told = stdout(&ff(folder).arg("init").args(arguments).output().unwrap());
    told.lines()
        .take_while(|line| !line.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Asks for both tasks, and agrees to what the second asks.
fn try_both(dev: &Dev) {
    let hello = dev.submit("hello", &json!({ "name": "Ana" }));
    assert_eq!(dev.ended(&hello)["public_state"], "completed", "{}", dev.running.told());
    assert_eq!(dev.get(&format!("{hello}/result")), "hello Ana");
    let letter = dev.submit("letter", &json!({ "name": "Ana" }));
    let tail = format!("{letter}/attempts/0/stream/tail?wait_ms=500&after=9999999999999-0");
    let waits = http::until(&dev.address, &letter, |view| {
        dev.get(&tail);
        view["public_state"] == "suspended"
    });
    let waitpoint = waits["suspension"]["waitpoints"][0]["waitpoint_id"].as_str().unwrap();
    dev.call(&format!("POST {letter}/waitpoints/{waitpoint}/approve"), &json!({}));
    assert_eq!(
        dev.ended(&letter)["public_state"],
        "completed",
        "{}",
        dev.running.told()
    );
    assert_eq!(dev.get(&format!("{letter}/result")), "sent: Dear Ana, it works.");
}

#[test]
fn python_is_three_files_that_greet_and_ask() {
    let folder = tempfile::tempdir().unwrap();
    let files = init(folder.path(), &["python"]);
    assert_eq!(files, ["hello/worker.py", "hello/tasks.py", "hello/README.md"]);
    let hello = folder.path().join("hello");
    try_both(&Dev::start(&hello, &["--memory", "--worker", "python3 worker.py"]));
}

#[test]
fn shell_is_three_files_that_greet_or_say_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let files = init(folder.path(), &["shell", "mine"]);
    assert_eq!(files, ["mine/worker.sh", "mine/hello.sh", "mine/README.md"]);
    let dev = Dev::start(&folder.path().join("mine"), &["--memory", "--worker", "./worker.sh"]);
    let greeted = dev.submit("hello", &json!({ "name": "Ana" }));
    assert_eq!(
        dev.ended(&greeted)["public_state"],
        "completed",
        "{}",
        dev.running.told()
    );
    let wrong = dev.submit("hello", &json!({}));
    assert_eq!(dev.ended(&wrong)["failure"]["category"], "permanent");
}

#[test]
fn rust_is_three_files_that_know_where_the_sdk_is() {
    let folder = tempfile::tempdir().unwrap();
    let files = init(folder.path(), &["rust"]);
    assert_eq!(files, ["hello/Cargo.toml", "hello/src/main.rs", "hello/README.md"]);
    let manifest = std::fs::read_to_string(folder.path().join("hello/Cargo.toml")).unwrap();
    let sdk = manifest.split("ff-sdk = { path = \"").nth(1).unwrap();
    let sdk = sdk.split('"').next().unwrap();
    assert!(Path::new(sdk).join("Cargo.toml").is_file(), "{manifest}");
}

/// Its program is built with the tests of this package: as it is, but against the SDK of this build.
#[test]
fn rust_greets_and_asks() {
    let folder = tempfile::tempdir().unwrap();
    let program = example("init_rust");
    try_both(&Dev::start(
        folder.path(),
        &["--memory", "--worker", program.to_str().unwrap()],
    ));
}

#[test]
fn a_folder_with_something_in_it_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("hello")).unwrap();
    std::fs::write(folder.path().join("hello/worker.py"), "mine").unwrap();
    let refused = ff(folder.path()).args(["init", "python"]).output().unwrap();
    assert!(
        !refused.status.success() && stderr(&refused).contains("another folder"),
        "{}",
        stderr(&refused)
    );
    assert_eq!(
        std::fs::read_to_string(folder.path().join("hello/worker.py")).unwrap(),
        "mine"
    );
}
