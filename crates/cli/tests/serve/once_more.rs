//! This test binary once more, in a process of its own that runs one of its tests.

use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};

/// Runs the test of this name, whose path has no crate in front.
pub(crate) fn once_more(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]);
    command
}

/// Such a process, which works until it is killed, told to end or left alone.
pub(crate) struct Working(Child);

impl Working {
    pub(crate) fn start(command: &mut Command) -> Self {
        // What the harness prints in there is nobody's business; what goes wrong is told on standard error.
        Self(command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap())
    }

    pub(crate) fn pid(&self) -> u32 {
        self.0.id()
    }

    /// SIGKILL, while it is at work.
    pub(crate) fn kill(mut self) {
        self.0.kill().unwrap();
        let status = self.0.wait().unwrap();
        assert_eq!(status.signal(), Some(9), "it had ended before: {status}");
    }

    /// Tells it to end, and waits until it has.
    pub(crate) fn end(mut self) {
        drop(self.0.stdin.take());
        let status = self.0.wait().unwrap();
        assert!(status.success(), "{status}");
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// In the other process: until the test that started it wants it to end, or is gone.
pub(crate) async fn until_told_to_end() {
    let read = || std::io::read_to_string(std::io::stdin());
    tokio::task::spawn_blocking(read).await.unwrap().unwrap();
}
