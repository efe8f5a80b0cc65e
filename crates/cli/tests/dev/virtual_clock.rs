//! Time that only a test moves.

use serde_json::{Value, json};

use crate::running::Dev;
use crate::support::http;
use crate::{ff, stderr, stdout};

/// A task of two steps, each of which notes that it was done.
const TASKS: &str = r#"
import os

def note(what):
    with open(os.environ["LEDGER"], "a") as ledger: ledger.write(what + "\n")
    return what

def publish(task):
    draft = task.step("draft", lambda: note("draft"))
    return {"op": "complete", "result": [draft, task.step("post", lambda: note("post"))]}

HANDLERS = {"publish": publish}
"#;

#[test]
fn it_is_refused_on_a_store_that_outlives_the_test() {
    let folder = tempfile::tempdir().unwrap();
    let refused = ff(folder.path())
        .args(["dev", "--virtual-clock", "--port", "0"])
        .output()
        .unwrap();
    assert!(!refused.status.success());
    assert!(stderr(&refused).contains("--memory"), "{}", stderr(&refused));
    assert!(!folder.path().join(".ff").exists());
}

#[test]
fn days_pass_when_a_test_says_so_and_only_then() {
    let folder = tempfile::tempdir().unwrap();
    let dev = Dev::start(folder.path(), &["--memory", "--virtual-clock"]);
    let info = dev.get("/v1");
    assert_eq!(info["clock"], "virtual");
    let begin = info["server_time"].as_u64().unwrap();
    let day = 24 * 3_600 * 1_000;
    let path = dev.submit("later", &json!(null));
    let delayed = json!({ "execution_kind": "later", "delay_until": begin + 2 * day });
    let later = dev.call("POST /v1/executions", &delayed);
    let later = later["execution_id"].as_str().unwrap().replace(['{', '}'], "");
    let later = format!("/v1/executions/{later}");
    assert_eq!(dev.get(&path)["public_state"], "waiting");
    assert_eq!(dev.get(&later)["public_state"], "delayed");

    let passed = dev.call("POST /v1/test/advance", &json!({ "by_ms": day }));
    assert_eq!(passed["server_time"].as_u64(), Some(begin + day), "{passed}");
    assert_eq!(dev.get(&later)["public_state"], "delayed");
    dev.call("POST /v1/test/advance", &json!({ "by_ms": day }));
    assert_eq!(dev.get(&later)["public_state"], "waiting");
}

#[test]
fn a_worker_that_is_lost_gives_up_its_leases_and_stays_registered_until_then() {
    let folder = tempfile::tempdir().unwrap();
    let dev = Dev::start(folder.path(), &["--memory", "--virtual-clock"]);
    let incarnation = "0192a3b4-0000-7000-8000-000000000001";
    let register = json!({ "worker_id": "w", "incarnation": incarnation, "lanes": ["default"] });
    dev.call("PUT /v1/workers/w-1", &register);
    dev.call("POST /v1/test/advance", &json!({ "by_ms": 3_600_000 }));
    assert_eq!(dev.get("/v1/workers")["items"][0]["worker_instance_id"], "w-1");

    let path = dev.submit("job", &json!(null));
    let want = json!({ "lanes": ["default"], "max": 1 });
    let exchange = json!({ "worker_id": "w", "incarnation": incarnation, "want": want, "wait_ms": 5_000 });
    let taken = dev.call("POST /v1/workers/w-1/exchange", &exchange);
    assert_eq!(taken["tasks"].as_array().unwrap().len(), 1, "{taken}");
    let lost = dev.call("POST /v1/test/lose-worker", &json!({ "worker_instance_id": "w-1" }));
    assert_eq!(lost["leases"], 1, "{lost}");
    assert_eq!(dev.get("/v1/workers")["items"], json!([]));
    dev.call("POST /v1/test/quiet", &json!({}));
    assert_ne!(dev.get(&path)["public_state"], "active");
}

#[test]
fn a_worker_crashes_once_after_a_step_that_is_recorded_and_goes_on_behind_it() {
    let folder = tempfile::tempdir().unwrap();
    let dev = Dev::start(folder.path(), &["--memory", "--virtual-clock"]);
    let incarnation = "0192a3b4-0000-7000-8000-000000000001";
    let register = json!({ "worker_id": "w", "incarnation": incarnation, "lanes": ["default"] });
    dev.call("PUT /v1/workers/w-1", &register);
    let exchange = |said: Value| {
        let mut said = said;
        said["worker_id"] = json!("w");
        said["incarnation"] = json!(incarnation);
        dev.call("POST /v1/workers/w-1/exchange", &said)
    };
    let want = || json!({ "want": { "lanes": ["default"], "max": 1 }, "wait_ms": 5_000 });
    let record = |task: &Value, key: &str| {
        let mut item = json!({ "steps": [{ "key": key, "output": key }] });
        for field in ["execution_id", "lease_id", "lease_epoch", "attempt_id"] {
            item[field] = task[field].clone();
        }
        json!({ "steps": [item] })
    };

    let armed = dev.call("POST /v1/test/crash-after", &json!({ "step": "draft#0" }));
    assert_eq!(armed, json!({ "steps": ["draft#0"] }));
    let path = dev.submit("job", &json!(null));
    let task = exchange(want())["tasks"][0].clone();
    assert!(exchange(record(&task, "other#0"))["steps"][0]["error"].is_null());
    let lost = exchange(record(&task, "draft#0"));
    assert_eq!(
        (&lost["code"], &lost["retryable"]),
        (&json!("unavailable"), &json!(true)),
        "{lost}"
    );
    assert_ne!(dev.get(&path)["public_state"], "active");
    assert_eq!(dev.get("/v1/workers")["items"][0]["worker_instance_id"], "w-1");
    let again = exchange(record(&task, "draft#0"));
    assert_eq!(again["steps"][0]["error"]["code"], "lease_revoked", "{again}");

    let task = exchange(want())["tasks"][0].clone();
    let keys: Vec<_> = task["journal"]["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| &step["key"])
        .collect();
    assert_eq!(keys, ["other#0", "draft#0"]);
    assert_eq!(
        dev.call("POST /v1/test/crash-after", &json!({})),
        json!({ "steps": [] })
    );
    let answered = exchange(record(&task, "post#0"));
    assert!(answered["steps"][0]["error"].is_null(), "it crashes once: {answered}");
}

#[test]
fn a_worker_that_is_let_crash_does_no_step_twice() {
    let folder = tempfile::tempdir().unwrap();
    stdout(&ff(folder.path()).args(["init", "python", "project"]).output().unwrap());
    std::fs::write(folder.path().join("project/tasks.py"), TASKS).unwrap();
    let mut command = ff(&folder.path().join("project"));
    command.args([
        "dev",
        "--port",
        "0",
        "--memory",
        "--virtual-clock",
        "--worker",
        "python3 worker.py",
    ]);
    let dev = Dev::of(command.env("LEDGER", folder.path().join("ledger")));
    http::until(&dev.address, "/v1/workers", |workers| workers["items"][0].is_object());
    dev.call("POST /v1/test/crash-after", &json!({ "step": "draft#0" }));
    let path = dev.submit("publish", &json!(null));
    dev.call("POST /v1/test/quiet", &json!({}));
    let view = dev.get(&path);
    assert_eq!(
        (&view["public_state"], &view["attempt_count"]),
        (&json!("completed"), &json!(2)),
        "{view}"
    );
    assert_eq!(dev.get(&format!("{path}/result")), json!(["draft", "post"]));
    assert_eq!(
        std::fs::read_to_string(folder.path().join("ledger")).unwrap(),
        "draft\npost\n"
    );
    assert_eq!(
        dev.call("POST /v1/test/crash-after", &json!({})),
        json!({ "steps": [] })
    );
}

#[test]
fn a_crash_comes_with_whatever_call_records_the_step() {
    let folder = tempfile::tempdir().unwrap();
    let dev = Dev::start(folder.path(), &["--memory", "--virtual-clock"]);
    let incarnation = "0192a3b4-0000-7000-8000-000000000001";
    dev.call(
        "PUT /v1/workers/w-1",
        &json!({ "worker_id": "w", "incarnation": incarnation, "lanes": ["default"] }),
    );
    let waits = json!({
        "step": "review#0",
        "waitpoints": [{ "fresh": { "waitpoint_key": "review#0" } }],
        "resume_condition": { "single": { "waitpoint_key": "review#0", "matcher": "any" } },
        "reason_code": "waiting_for_approval",
    });
    let child = json!({ "children": [{ "step": "child#0", "execution_kind": "part" }] });
    let done = json!({ "steps": [{ "key": "last#0" }] });
    for (call, body, step, state) in [
        ("suspend", waits, "review#0", "suspended"),
        ("complete", done, "last#0", "completed"),
        ("spawn", child, "child#0", "waiting"),
    ] {
        dev.call("POST /v1/test/crash-after", &json!({ "step": step }));
        let path = dev.submit("job", &json!(null));
        let claim =
            json!({ "worker_id": "w", "incarnation": incarnation, "lanes": ["default"], "max": 1, "wait_ms": 5_000 });
        let task = dev.call("POST /v1/workers/w-1/tasks", &claim)["tasks"][0].clone();
        let mut body = body;
        for field in ["lease_id", "lease_epoch", "attempt_id"] {
            body[field] = task[field].clone();
        }
        let lost = dev.call(&format!("POST {path}/lease/{call}"), &body);
        assert_eq!(lost["code"], "unavailable", "{call}: {lost}");
        assert_eq!(dev.get(&path)["public_state"], state, "{call}");
        let steps = dev.get(&format!("{path}/steps"));
        assert_eq!(steps["items"][0]["key"], step, "{steps}");
    }
}

/// Whoever waits for something does so by the clock on the wall, which no test moves.
#[test]
fn a_long_poll_ends_although_time_stands_still() {
    let folder = tempfile::tempdir().unwrap();
    let dev = Dev::start(folder.path(), &["--memory", "--virtual-clock"]);
    let path = dev.submit("never", &json!(null));
    let waited = dev.get(&format!("{path}/wait?wait_ms=200"));
    assert_eq!(waited["public_state"], "waiting", "{waited}");
}

#[test]
fn the_routes_are_not_there_under_a_real_clock() {
    let folder = tempfile::tempdir().unwrap();
    let dev = Dev::start(folder.path(), &["--memory", "--empty"]);
    assert_eq!(dev.get("/v1")["clock"], "real");
    let refused = dev.call("POST /v1/test/advance", &json!({ "by_ms": 1 }));
    assert_eq!(refused["code"], "not_found", "{refused}");
}
