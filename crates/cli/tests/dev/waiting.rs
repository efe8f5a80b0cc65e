//! Whoever waits in a terminal is not left in the dark.

use serde_json::json;

use crate::ff;
use crate::running::{Dev, Running};

#[test]
fn whoever_waits_for_a_result_is_told_what_says_why_there_is_none_yet() {
    let folder = tempfile::tempdir().unwrap();
    let dev = Dev::start(folder.path(), &["--memory", "--empty"]);
    let path = dev.submit("letter", &json!(null));
    let id = &path[path.len() - 8..];
    let url = format!("http://{}", dev.address);
    let waiting = Running::start(ff(folder.path()).args(["result", id]).env("FF_URL", url));
    waiting.until(&format!(
        "It is waiting: `ff explain {id}` says why. Waiting for its end"
    ));
    dev.running.stop();
}
