//! Nothing that a page starts outlives its test, not even when the test is killed.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// The variable that marks everything that a page starts.
const MARK: &str = "PAGE_MARK";

/// A process that ends what a page has started, once this is dropped or the test is gone.
pub(crate) struct Guard {
    mark: String,
    process: Child,
    told: Option<ChildStdin>,
}

impl Guard {
    pub(crate) fn start() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let mark = format!("{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let mut process = Command::new("bash")
            .args(["--noprofile", "--norc", "-c", include_str!("guard.sh"), "guard", &mark])
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("bash is installed");
        let told = process.stdin.take();
        Self { mark, process, told }
    }

    /// What a process that it ends has in its environment.
    pub(crate) fn mark(&self) -> (&'static str, &str) {
        (MARK, &self.mark)
    }

    /// Ends this group of processes, too.
    pub(crate) fn watch(&mut self, group: u32) {
        let told = self.told.as_mut().expect("it was not told to end");
        writeln!(told, "{group}").expect("the guard lives");
    }

    /// Ends everything, and gives the commands that were still there.
    pub(crate) fn end(&mut self) -> Vec<String> {
        self.told = None;
        let said = self.process.stdout.take();
        let lines = said.into_iter().flat_map(|said| BufReader::new(said).lines());
        let left = lines.map_while(Result::ok).map(|line| line.trim().to_owned()).collect();
        // It has nobody left to wait for.
        let _ = self.process.wait();
        left
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.end();
    }
}

#[test]
#[cfg(target_os = "linux")]
fn what_has_left_its_group_and_ignores_everything_is_ended() {
    let mut guard = Guard::start();
    let (name, mark) = guard.mark();
    let mut started = Command::new("bash")
        .args(["-c", "trap '' INT TERM HUP; echo here; exec tail -f /dev/null"])
        .env(name, mark)
        .process_group(0)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(started.stdout.take().unwrap());
    said.read_line(&mut String::new()).unwrap();
    let left = guard.end();
    assert_eq!(left, ["tail -f /dev/null"]);
    assert!(!started.wait().unwrap().success());
}

#[test]
fn a_group_that_is_watched_is_ended() {
    let mut guard = Guard::start();
    let mut started = Command::new("tail")
        .args(["-f", "/dev/null"])
        .process_group(0)
        .spawn()
        .unwrap();
    guard.watch(started.id());
    assert_eq!(guard.end(), Vec::<String>::new());
    assert!(!started.wait().unwrap().success());
}
