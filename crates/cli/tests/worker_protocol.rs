//! The worker of docs/how-to/worker-in-any-language.md, taken from that page and run against a server that is killed under it.

#![expect(clippy::unwrap_used, reason = "a test that cannot set its scene has failed")]

mod support;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use support::{Process, http};

const PAGE: &str = include_str!("../../../docs/how-to/worker-in-any-language.md");

/// A server on a port, over a store that outlives it.
struct Server {
    _process: Process,
    address: String,
}

impl Server {
    fn start(store: &Path, listen: &str) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_ff"))
            .args(["serve", "--listen", listen, "--store"])
            .arg(format!("sqlite:{}", store.display()))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let told = BufReader::new(process.stdout.take().unwrap());
        let mut lines = told.lines().map_while(Result::ok);
        let address = lines.find_map(|line| line.strip_prefix("listening on http://").map(str::to_owned));
        Self {
            _process: Process(process),
            address: address.expect("the server listens"),
        }
    }

    fn call(&self, request: &str, body: &Value) -> Value {
        http::call(&self.address, request, body)
    }

    fn get(&self, path: &str) -> Value {
        http::get(&self.address, path)
    }

    fn until(&self, path: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        http::until(&self.address, path, is_so)
    }
}

fn worker(folder: &Path, server: &Server) -> Process {
    let (_, rest) = PAGE.split_once("```python\n").unwrap();
    let (source, _) = rest.split_once("\n```").unwrap();
    let file = folder.join("worker.py");
    std::fs::write(&file, source).unwrap();
    let url = format!("http://{}", server.address);
    Process(
        Command::new("python3")
            .arg(file)
            .env("FF_URL", url)
            .spawn()
            .expect("python3 is installed"),
    )
}

/// Waits at most a second for something of the execution to change.
fn waiting(path: &str) -> String {
    format!("{path}/attempts/0/stream/tail?wait_ms=1000&after=9999999999999-0")
}

#[test]
fn the_page_is_short() {
    assert!(PAGE.lines().count() <= 150);
}

#[test]
fn a_worker_of_a_hundred_lines_streams_charges_suspends_resumes_and_survives_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("ff.db");
    let server = Server::start(&store, "127.0.0.1:0");
    let mut worker = worker(folder.path(), &server);
    let budget = server.call("POST /v1/budgets", &json!({ "dimensions": { "words": {} } }));
    let input = json!({ "words": ["one", "two", "three"], "budget_id": budget["budget_id"] });
    let submit = json!({ "execution_kind": "write", "input": input });
    let created = server.call("POST /v1/executions", &submit);
    let id = created["execution_id"].as_str().unwrap().replace(['{', '}'], "");
    let path = format!("/v1/executions/{id}");

    let suspended = server.until(&path, |view| {
        server.get(&waiting(&path));
        view["public_state"] == "suspended"
    });
    let frames = server.get(&format!("{path}/attempts/0/stream"));
    let words: Vec<_> = frames["frames"]
        .as_array()
        .unwrap()
        .iter()
        .map(|frame| frame["payload"].clone())
        .collect();
    assert_eq!(words, ["one", "two", "three"]);
    let spent = server.get(&format!("/v1/budgets/{}", budget["budget_id"].as_str().unwrap()));
    assert_eq!(spent["dimensions"]["words"]["usage"], json!(3), "{spent}");

    let address = server.address.clone();
    drop(server);
    let server = Server::start(&store, &address);
    let waitpoint = suspended["suspension"]["waitpoints"][0]["waitpoint_id"]
        .as_str()
        .unwrap();
    let approved = server.call(&format!("POST {path}/waitpoints/{waitpoint}/approve"), &json!({}));
    assert_eq!(approved["status"], "accepted", "{approved}");
    server.until(&format!("{path}/wait?wait_ms=1000"), |state| {
        state["public_state"] == "completed"
    });
    let result = server.get(&format!("{path}/result"));
    assert_eq!(result, json!({ "text": "one two three", "verdict": "approved" }));
    let view = server.get(&path);
    assert_eq!(
        (&view["attempt_count"], &view["counts"]["reclaims"]),
        (&json!(1), &json!(0)),
        "{view}"
    );

    let stop = Command::new("kill").arg(worker.0.id().to_string()).status().unwrap();
    assert!(
        stop.success() && worker.0.wait().unwrap().success(),
        "it drains and ends"
    );
    assert_eq!(server.get("/v1/workers")["items"], json!([]));
}
