//! What ends a server when no `drop` runs.

use std::io;
use std::mem;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

pub(crate) const SCRIPT: &str = include_str!("guard.sh");

/// A shell that waits for the end of a pipe, which the system closes with the last process that holds it, and then ends the
/// server of a directory and removes the directory. Dropping the guard calls it off.
///
/// It is in a process group of its own: what a test runner sends to the group of a test must not end it before it has done
/// its work.
pub(crate) struct Guard(Child);

impl Guard {
    /// Guards for this process.
    pub(crate) fn start(directory: &Path) -> io::Result<Guard> {
        Guard::spawn(directory, Stdio::piped())
    }

    /// Guards for those who hold the pipe of which this is the reading end, also when this process has ended.
    pub(crate) fn start_for(users: Stdio, directory: &Path) -> io::Result<()> {
        mem::forget(Guard::spawn(directory, users)?);
        Ok(())
    }

    fn spawn(directory: &Path, users: Stdio) -> io::Result<Guard> {
        let shell = Command::new("sh")
            .args(["-c", SCRIPT])
            .arg(directory)
            .current_dir("/")
            .process_group(0)
            .stdin(users)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        shell.map(Guard)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // Both fail only when the shell is gone already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
