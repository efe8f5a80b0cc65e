//! Where it listens.

use std::net::TcpListener;

use crate::running::Running;
use crate::{ff, stderr};

#[test]
fn a_port_that_was_asked_for_and_is_busy_is_refused_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let refused = ff(folder.path())
        .args(["dev", "--memory", "--port", &port])
        .output()
        .unwrap();
    let told = stderr(&refused);
    assert_eq!(refused.status.code(), Some(1), "{told}");
    assert!(
        told.contains(&format!("port {port} of this machine is busy")) && told.contains("--port 0"),
        "{told}"
    );
}

/// The usual port may be anybody's on this machine; whoever has it, the second one is on another and says so.
#[test]
fn the_next_free_port_is_taken_and_said_aloud() {
    let folder = tempfile::tempdir().unwrap();
    let start = || Running::start(ff(folder.path()).args(["dev", "--memory", "--empty"]));
    let first = start();
    first.until("API        http://127.0.0.1:");
    let second = start();
    let instead = second.until("Port 7117 is busy: this server listens on ");
    let (port, _) = instead.split_once(" instead.").unwrap();
    assert!(second.until("API        http://127.0.0.1:").starts_with(port));
    let submit = second.until("curl -sd");
    assert!(submit.contains(port), "{submit}");
}
