//! Time that only a test moves.

use serde_json::json;

use crate::running::Dev;
use crate::{ff, stderr};

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
