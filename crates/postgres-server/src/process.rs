//! The processes of one server.

use std::fs;
use std::io;
use std::mem;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};

use crate::directory::Directory;
use crate::family::{children, signal, wait_until_gone};

/// A running server; it and its children are killed with SIGKILL when it is dropped.
pub(crate) struct Process {
    postmaster: Child,
    /// Where it writes its process id, its piece of shared memory and its state.
    status_file: PathBuf,
}

impl Process {
    pub(crate) fn spawn(directory: &Directory, arguments: &[String]) -> io::Result<Process> {
        let log = directory.open_log();
        let postmaster = directory
            .command("postgres")
            .arg("-D")
            .arg(directory.data())
            .args(arguments)
            // What a test runner sends to the group of a test must not reach the shared server.
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()?;
        Ok(Process {
            postmaster,
            status_file: directory.data().join("postmaster.pid"),
        })
    }

    /// How it ended, when it did.
    pub(crate) fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        self.postmaster.try_wait()
    }

    /// Whether it accepts connections.
    pub(crate) fn is_ready(&self) -> bool {
        self.status(8).is_some_and(|state| state == "ready")
    }

    /// Stops all its processes without ending them, the postmaster first: it starts no more children then.
    pub(crate) fn pause(&self) {
        let id = self.postmaster.id();
        assert!(signal("STOP", &[id]), "could not send SIGSTOP to a PostgreSQL server");
        signal("STOP", &children(id));
    }

    /// Lets all its processes go on.
    pub(crate) fn resume(&self) {
        let id = self.postmaster.id();
        signal("CONT", &children(id));
        assert!(signal("CONT", &[id]), "could not send SIGCONT to a PostgreSQL server");
    }

    /// Lets it run for others.
    pub(crate) fn leave(self) {
        mem::forget(self);
    }

    /// The postmaster is only stopped at first: without it nobody could tell whose children its children are.
    fn kill_all(&mut self) {
        let id = self.postmaster.id();
        signal("STOP", &[id]);
        let children = children(id);
        signal("KILL", &children);
        // Both fail only when it is gone already.
        let _ = self.postmaster.kill();
        let _ = self.postmaster.wait();
        wait_until_gone(&children);
    }

    /// A killed server leaves a piece of shared memory behind, of which a system allows some thousand until it is restarted.
    fn free_memory(&self) {
        let key_and_id = self.status(7);
        if let Some(id) = key_and_id.as_deref().and_then(|words| words.split_whitespace().nth(1)) {
            let _ = Command::new("ipcrm").args(["-m", id]).stderr(Stdio::null()).status();
        }
    }

    /// A line of the status file, counted from one.
    fn status(&self, line: usize) -> Option<String> {
        let text = fs::read_to_string(&self.status_file).ok()?;
        Some(text.lines().nth(line - 1)?.trim().to_owned())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Who was waited for has no id any more: it may belong to another process.
        if matches!(self.ended(), Ok(None)) {
            self.kill_all();
            self.free_memory();
        }
        // Else the next process would be taken for this one, and the guard would signal whoever has its id by then.
        let _ = fs::remove_file(&self.status_file);
    }
}
