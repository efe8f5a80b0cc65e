//! A test process that a test starts, to kill it.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Set in the process that was started.
const CHILD: &str = "FF_POSTGRES_SERVER_CHILD";

pub(crate) fn am_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

/// Says something to the process that started this one.
#[expect(clippy::print_stdout, reason = "it reads the output")]
pub(crate) fn tell(what: &str) {
    println!("child: {what}");
}

/// Runs a test in a process of its own, where [`am_child`], and waits for what it tells.
pub(crate) fn start(test: &str, temporary: &Path) -> (Child, String) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(CHILD, "1")
        .env("TMPDIR", temporary)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let told = lines
        .map_while(Result::ok)
        .find_map(|line| Some(line.split_once("child: ")?.1.to_owned()));
    (child, told.unwrap())
}

pub(crate) fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}
