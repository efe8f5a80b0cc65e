//! A shell command for every task.

use std::path::Path;

use serde_json::{Value, json};

use crate::ff;
use crate::running::{Dev, Running};

/// A server, and a worker that runs `script` for everything of kind `job`.
struct Scene {
    dev: Dev,
    _worker: Running,
}

impl Scene {
    fn start(folder: &Path, script: &str, options: &[&str]) -> Self {
        let dev = Dev::start(folder, &["--memory", "--empty"]);
        let url = format!("http://{}", dev.address);
        let mut command = ff(folder);
        command
            .args(["worker", "--kind", "job", "--exec", script, "--url", &url])
            .args(options);
        let worker = Running::start(&mut command);
        worker.until("waits for job in default");
        Self { dev, _worker: worker }
    }

    fn result(&self, path: &str) -> Value {
        self.dev.get(&format!("{path}/result"))
    }
}

#[test]
fn the_input_is_standard_input_lines_are_streamed_and_the_last_one_is_the_result() {
    let folder = tempfile::tempdir().unwrap();
    let script = r#"echo "$FF_KIND $FF_ATTEMPT"; tr a-z A-Z"#;
    let scene = Scene::start(folder.path(), script, &[]);
    let path = scene
        .dev
        .submit("job", &json!({ "name": "$(touch oops) `touch oops` ; touch oops" }));
    assert_eq!(scene.dev.ended(&path)["public_state"], "completed");
    assert_eq!(
        scene.result(&path),
        json!({ "NAME": "$(TOUCH OOPS) `TOUCH OOPS` ; TOUCH OOPS" })
    );
    assert!(!folder.path().join("oops").exists(), "nothing of an input is ever run");
    let frames = scene.dev.get(&format!("{path}/attempts/0/stream"));
    assert_eq!(frames["frames"][0]["payload"], "job 0", "{frames}");
    assert_eq!(frames["frames"][0]["frame_type"], "line");
}

#[test]
fn the_exit_code_decides() {
    let folder = tempfile::tempdir().unwrap();
    let script = "read code; echo it is $code >&2; exit $code";
    let scene = Scene::start(folder.path(), script, &[]);
    for (code, category) in [(65, "permanent"), (1, "transient")] {
        let path = scene.dev.submit("job", &json!(code));
        let failed = scene.dev.ended(&path);
        assert_eq!(failed["failure"]["category"], category, "{failed}");
        let reason = failed["failure"]["reason"].as_str().unwrap();
        assert_eq!(reason, format!("it is {code} (exit code {code})"));
    }
    let path = scene.dev.submit("job", &json!(0));
    assert_eq!(scene.dev.ended(&path)["public_state"], "completed");
}

#[test]
fn a_command_whose_task_is_cancelled_is_told_so_with_everything_it_started() {
    let folder = tempfile::tempdir().unwrap();
    // The shell in the background would outlive the one in front.
    let script = "(trap 'echo told > told; exit' TERM; while :; do sleep 0.05; done) & echo begun; wait";
    let scene = Scene::start(folder.path(), script, &[]);
    let path = scene.dev.submit("job", &json!(null));
    let tail = format!("{path}/attempts/0/stream/tail?wait_ms=1000");
    crate::support::http::until(&scene.dev.address, &tail, |page| {
        page["frames"][0]["payload"] == "begun"
    });
    scene
        .dev
        .call(&format!("POST {path}/cancel"), &json!({ "reason": "enough" }));
    let told = folder.path().join("told");
    let begun = std::time::Instant::now();
    while !told.exists() {
        assert!(
            begun.elapsed() < crate::support::http::PATIENCE,
            "{}",
            scene._worker.told()
        );
        std::thread::yield_now();
    }
    assert_eq!(scene.dev.ended(&path)["public_state"], "cancelled");
}

#[test]
fn everything_that_was_printed_can_be_the_result() {
    let folder = tempfile::tempdir().unwrap();
    let scene = Scene::start(folder.path(), "printf '{\\n  \"a\": 1\\n}\\n'", &["--result", "all"]);
    let path = scene.dev.submit("job", &json!(null));
    scene.dev.ended(&path);
    assert_eq!(scene.result(&path), json!({ "a": 1 }));
}
