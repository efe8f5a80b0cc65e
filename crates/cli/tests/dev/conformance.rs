//! What every SDK must do: the Rust SDK does it, and a worker that lets its leases run out is found out.

use std::path::Path;
use std::process::Output;

use crate::{example, ff, stdout};

fn conformance(folder: &Path, worker: &str, only: &[&str]) -> Output {
    let mut command = ff(folder);
    command.args(["conformance", "--worker", worker]);
    only.iter().for_each(|check| _ = command.args(["--only", check]));
    command.output().unwrap()
}

#[test]
fn the_rust_sdk_conforms() {
    let folder = tempfile::tempdir().unwrap();
    let worker = example("conformance_worker");
    let told = stdout(&conformance(folder.path(), worker.to_str().unwrap(), &[]));
    assert!(!told.contains("FAIL"), "{told}");
    for check in ["kill", "lost-replies", "503", "revoked", "budget", "drain", "renewals"] {
        assert!(
            told.contains(&format!("pass  {check} ")),
            "{check} is missing in {told}"
        );
    }
    assert!(told.contains("25 of 25 checks passed"), "{told}");
}

/// A task for the worker that `ff init python` writes.
const STOPPABLE: &str = r#"
import json, os, urllib.request

def note(task, effect):
    body = json.dumps({"execution_id": task.fence["execution_id"], "effect": effect}).encode()
    urllib.request.urlopen(urllib.request.Request(os.environ["FF_LEDGER"], body, {"Content-Type": "application/json"}))

def stoppable(task):
    note(task, "begun")
    task.stopped.wait()
    note(task, "stopped")

HANDLERS = {"stoppable": stoppable}
"#;

#[test]
fn a_worker_that_ignores_renewals_does_not_conform() {
    let folder = tempfile::tempdir().unwrap();
    stdout(&ff(folder.path()).args(["init", "python", "honest"]).output().unwrap());
    let honest = folder.path().join("honest");
    std::fs::write(honest.join("tasks.py"), STOPPABLE).unwrap();
    let checks = ["renewals", "stop", "revoked"];
    let found = stdout(&conformance(&honest, "python3 worker.py", &checks));
    assert!(found.contains("3 of 3 checks passed"), "{found}");

    let worker = std::fs::read_to_string(honest.join("worker.py")).unwrap();
    let never = worker.replace("left_ms / 3000", "left_ms * 1000");
    assert_ne!(worker, never, "this is where it decides when to renew");
    std::fs::write(honest.join("worker.py"), never).unwrap();
    let found = conformance(&honest, "python3 worker.py", &["renewals", "stop"]);
    let told = String::from_utf8(found.stdout).unwrap();
    assert_eq!(found.status.code(), Some(3), "{told}");
    for line in [
        "FAIL  renewals",
        "found  a lease of 10s was not renewed while it lasted",
        "do     Renew when a third of the time left has passed",
        "pass  stop ",
        "1 of 2 checks passed",
    ] {
        assert!(told.contains(line), "{line:?} is missing in {told}");
    }
}

#[test]
fn a_check_that_is_not_there_is_refused_with_where_to_look() {
    let folder = tempfile::tempdir().unwrap();
    let refused = conformance(folder.path(), "true", &["nothing"]);
    let told = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success() && told.contains("--list"), "{told}");
    let listed = stdout(&ff(folder.path()).args(["conformance", "--list"]).output().unwrap());
    assert_eq!(listed.lines().count(), 25, "{listed}");
}
