//! `ff` as an operator runs it, in a process of its own.

#![expect(clippy::unwrap_used, reason = "a test that cannot set its scene has failed")]
#![expect(
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "runs tell their seeds and figures, and a child its answers"
)]

mod crowd;
mod killed;
mod ledger_file;
mod listed;
#[path = "../../../engine/tests/faults/luck.rs"]
mod luck;
mod many;
#[path = "../../../engine/tests/faults/often.rs"]
mod often;
mod once_more;
mod paid_once;
mod restored;
mod running;
mod served;
mod two_servers;
mod used;
#[path = "../verbs/mod.rs"]
mod verbs;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use running::Running;

fn ff(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ff"));
    command
        .current_dir(folder)
        .env_remove("FF_STORE")
        .env_remove("FF_LISTEN");
    command
}

/// How often something is killed: as often as `FF_TEST_KILLS` says.
fn kills(usual: usize) -> usize {
    let told = std::env::var("FF_TEST_KILLS").ok();
    told.map_or(usual, |told| told.parse().expect("FF_TEST_KILLS is a number"))
}

fn refused(output: &Output) -> String {
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success(), "{told}");
    told
}

#[test]
fn a_server_says_what_it_runs_on_keeps_what_it_took_and_stops_when_told() {
    let folder = tempfile::tempdir().unwrap();
    let serve =
        || Running::start(ff(folder.path()).args(["serve", "--listen", "127.0.0.1:0", "--store", "sqlite:it/ff.db"]));
    let mut server = serve();
    for word in [
        "store: SQLite 3.",
        "schema",
        "partitions: 256",
        "signing key: k1",
        "callers: whoever is on this machine",
    ] {
        assert!(server.told.contains(word), "{word} is missing in {}", server.told);
    }
    let created = server.ask("POST", "/v1/executions", r#"{"execution_kind":"job"}"#);
    assert!(created.starts_with("HTTP/1.1 201"), "{created}");
    assert!(server.ask("GET", "/readyz", "").starts_with("HTTP/1.1 200"));

    let mut waiting = TcpStream::connect(&server.address).unwrap();
    let body = r#"{"worker_id":"w","lanes":["other"],"max":1,"wait_ms":30000}"#;
    let length = body.len();
    write!(
        waiting,
        "POST /v1/workers/w-1/tasks HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    // A connection on which no request has arrived yet is closed without a word.
    let until = Instant::now() + Duration::from_secs(30);
    while !server.ask("GET", "/metrics", "").contains("\nff_http_parked_polls 1\n") {
        assert!(Instant::now() < until, "the request was not taken up");
    }
    assert!(server.stop() < Duration::from_secs(15));
    let mut answer = String::new();
    waiting.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 "), "who waits is answered: {answer:?}");

    let again = serve();
    assert!(
        again.ask("GET", "/v1/executions", "").contains("\"job\""),
        "what was taken is still there"
    );
}

#[test]
fn a_store_in_memory_has_a_clock() {
    let folder = tempfile::tempdir().unwrap();
    let server = Running::start(ff(folder.path()).args(["serve", "--listen", "127.0.0.1:0", "--store", "memory:"]));
    let created = server.ask("POST", "/v1/executions", r#"{"execution_kind":"job"}"#);
    assert!(created.starts_with("HTTP/1.1 201"), "{created}");
    let listed = server.ask("GET", "/v1/executions", "");
    let at = listed.split("\"created_at\":").nth(1).unwrap();
    let at: u128 = at.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap();
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap();
    assert!(now.as_millis().abs_diff(at) < 10_000, "{at}");
}

#[test]
fn without_keys_it_listens_only_where_nobody_else_is() {
    let folder = tempfile::tempdir().unwrap();
    let open = ["serve", "--listen", "0.0.0.0:0", "--store", "memory:"];
    let told = refused(&ff(folder.path()).args(open).output().unwrap());
    assert!(told.contains("ff key create") && told.contains("--insecure"), "{told}");
    let server = Running::start(ff(folder.path()).args(open).arg("--insecure"));
    assert!(server.told.contains("EVERYBODY"), "{}", server.told);
}

#[test]
fn flags_are_stronger_than_the_environment_and_that_than_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = "store = \"valkey://me:hunter2@host\"\nstreams_max = 1\nbody_timeout_ms = 1\nheader_timeout_ms = 1\n";
    std::fs::write(folder.path().join("ff.toml"), file).unwrap();
    let printed = ff(folder.path())
        .args(["serve", "--print-config", "--body-timeout-ms", "3"])
        .envs([("FF_BODY_TIMEOUT_MS", "2"), ("FF_HEADER_TIMEOUT_MS", "2")])
        .output()
        .unwrap();
    let printed = String::from_utf8(printed.stdout).unwrap();
    for line in [
        "streams_max = 1",
        "header_timeout_ms = 2",
        "body_timeout_ms = 3",
        "store = \"valkey://host\"",
    ] {
        assert!(printed.contains(line), "{line} is missing in {printed}");
    }
    assert!(!printed.contains("hunter2"));
    std::fs::write(folder.path().join("ff.toml"), "strems_max = 1\n").unwrap();
    let told = refused(&ff(folder.path()).arg("serve").output().unwrap());
    assert!(
        told.contains("ff.toml, line 1") && told.contains("strems_max"),
        "{told}"
    );
}

#[test]
fn a_store_that_cannot_be_used_is_named_without_its_password() {
    let folder = tempfile::tempdir().unwrap();
    for (unreachable, says) in [
        ("valkey://me:hunter2@127.0.0.1:1", "127.0.0.1:1"),
        ("postgres://me:hunter2@127.0.0.1:1/d", "PostgreSQL does not answer"),
        ("mysql://me:hunter2@127.0.0.1:1/d", "no kind of store"),
    ] {
        let output = ff(folder.path())
            .args(["serve", "--store-patience-ms", "10", "--store", unreachable])
            .output()
            .unwrap();
        let told = refused(&output);
        assert!(told.contains(says) && !told.contains("hunter2"), "{told}");
    }
}

#[test]
fn a_key_made_on_the_store_opens_the_server_until_it_is_revoked() {
    let folder = tempfile::tempdir().unwrap();
    let key = |arguments: &[&str]| {
        let done = ff(folder.path())
            .arg("key")
            .args(arguments)
            .args(["--store", "sqlite:ff.db"])
            .output()
            .unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    };
    let made = key(&[
        "create",
        "ci",
        "--role",
        "submitter",
        "--namespace",
        "team",
        "--days",
        "30",
    ]);
    let listed = key(&["list"]);
    for word in ["ci", "submitter", "team", "never used", "29 d"] {
        assert!(listed.contains(word), "{word} is missing in {listed}");
    }
    assert!(!listed.contains(made.trim()));
    let twice = ff(folder.path())
        .args(["key", "create", "ci", "--role", "reader", "--store", "sqlite:ff.db"])
        .output()
        .unwrap();
    assert!(refused(&twice).contains("already_exists"));

    // With a key it may listen where others reach it.
    let serve =
        || Running::start(ff(folder.path()).args(["serve", "--listen", "0.0.0.0:0", "--store", "sqlite:ff.db"]));
    let mut server = serve();
    assert!(server.told.contains("whoever shows a key"), "{}", server.told);
    let port = server.address.rsplit(':').next().unwrap().to_owned();
    server.address = format!("127.0.0.1:{port}");
    assert!(server.ask("GET", "/v1/executions", "").starts_with("HTTP/1.1 401"));
    server.key = Some(made.trim().to_owned());
    assert!(server.ask("GET", "/v1/executions", "").starts_with("HTTP/1.1 200"));
    server.stop();
    key(&["revoke", "ci"]);
    assert_eq!(key(&["list"]), "");
}

#[test]
fn the_first_key_is_made_over_loopback_and_makes_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Running::start(ff(folder.path()).args(["serve", "--listen", "127.0.0.1:0", "--store", "memory:"]));
    let url = format!("http://{}", server.address);
    let key = |shown: Option<&str>, arguments: &[&str]| {
        let mut command = ff(folder.path());
        command.arg("key").args(arguments).args(["--url", &url]);
        command.envs(shown.map(|key| ("FF_KEY", key)));
        command.output().unwrap()
    };
    let made = key(None, &["create", "root", "--role", "admin"]);
    let root = String::from_utf8(made.stdout).unwrap();
    assert!(refused(&key(None, &["list"])).contains("unauthenticated"));
    assert!(
        key(Some(root.trim()), &["create", "ci", "--role", "reader"])
            .status
            .success()
    );
    let listed = key(Some(root.trim()), &["list"]);
    let listed = String::from_utf8(listed.stdout).unwrap();
    assert!(listed.contains("ci") && listed.contains("root"), "{listed}");
    assert!(refused(&key(Some("ff_wrong"), &["list"])).contains("unauthenticated"));
    server.stop();
}
