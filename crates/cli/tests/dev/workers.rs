//! Workers that `ff dev` keeps: with new code, the same run goes on.

use std::path::Path;

use serde_json::json;

use crate::running::Dev;
use crate::{ff, stdout};

/// A task whose first step takes until a file is there, and whose second one says which code it is.
const TASKS: &str = r#"
import os, time

def begin():
    print("the first step has begun", flush=True)
    with open(os.environ["LEDGER"], "a") as ledger: ledger.write("begun\n")
    while not os.path.exists(os.environ["GO"]): time.sleep(0.02)
    return "first"

def job(task):
    first = task.step("first", begin)
    return {"op": "complete", "result": [first, task.step("second", lambda: "old code")]}

def bad(task):
    task.step("fine", lambda: 1)
    raise ValueError("this handler is broken")

HANDLERS = {"job": job, "bad": bad}
"#;

fn project(folder: &Path) {
    stdout(&ff(folder).args(["init", "python", "project"]).output().unwrap());
    std::fs::write(folder.join("project/tasks.py"), TASKS).unwrap();
}

fn start(folder: &Path) -> Dev {
    let mut command = ff(&folder.join("project"));
    command.args(["dev", "--port", "0", "--memory", "--worker", "python3 worker.py"]);
    command
        .env("GO", folder.join("go"))
        .env("LEDGER", folder.join("ledger"));
    let dev = Dev::of(&mut command);
    dev.running.until("worker * started: python3 worker.py");
    dev
}

#[test]
fn a_run_goes_on_with_new_code_where_the_old_one_was() {
    let folder = tempfile::tempdir().unwrap();
    project(folder.path());
    let dev = start(folder.path());
    let path = dev.submit("job", &json!(null));
    dev.running.until("worker | the first step has begun");
    let tasks = TASKS.replace("old code", "new code");
    std::fs::write(folder.path().join("project/tasks.py"), tasks).unwrap();
    dev.running.until("worker * tasks.py has changed");
    std::fs::write(folder.path().join("go"), "").unwrap();
    let view = dev.ended(&path);
    assert_eq!(
        dev.get(&format!("{path}/result")),
        json!(["first", "new code"]),
        "{}",
        dev.running.told()
    );
    assert_eq!(
        view["attempt_count"], 1,
        "it was given back, and no attempt was lost: {view}"
    );
    let begun = std::fs::read_to_string(folder.path().join("ledger")).unwrap();
    assert_eq!(begun, "begun\n", "the first step was not done again");
    dev.running.stop();
}

#[test]
fn a_handler_that_fails_shows_where_and_from_which_step_to_go_on() {
    let folder = tempfile::tempdir().unwrap();
    project(folder.path());
    let dev = start(folder.path());
    let path = dev.submit("bad", &json!(null));
    dev.ended(&path);
    dev.running.until("worker | ValueError: this handler is broken");
    let id = path[path.len() - 8..].to_owned();
    dev.running
        .until(&format!("{id}      failed: ValueError('this handler is broken')"));
    dev.running.until(&format!("replay {id}   goes on after fine#0"));
    dev.running
        .until(&format!("replay {id} --before 'fine#0'   does fine#0 again, too"));
}

#[test]
fn a_worker_that_is_killed_is_started_again() {
    let folder = tempfile::tempdir().unwrap();
    let script = "[ ! -e ran ] || exec sleep 60\ntouch ran\nkill -9 $$\n";
    std::fs::write(folder.path().join("worker.sh"), script).unwrap();
    let dev = Dev::start(folder.path(), &["--memory", "--worker", "sh worker.sh"]);
    dev.running.until("worker * was killed (");
    dev.running.until("worker * started: sh worker.sh");
    dev.running.stop();
}

#[test]
fn a_worker_that_ends_by_itself_is_started_again_when_a_file_changes() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("worker.sh"), "echo one; exit 3\n").unwrap();
    let dev = Dev::start(folder.path(), &["--memory", "--worker", "sh worker.sh"]);
    dev.running.until("worker | one");
    dev.running
        .until("worker * has ended (exit status: 3): it starts again when a file changes");
    std::fs::write(folder.path().join("worker.sh"), "echo two; exec sleep 60\n").unwrap();
    dev.running.until("worker | two");
    dev.running.stop();
}
