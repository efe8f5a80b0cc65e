//! One server process and its guard.

use std::fs::File;
use std::io;
use std::process::{Child, Command, ExitStatus, Stdio};

use crate::binary::binary;

/// A running server, killed with SIGKILL when it is dropped.
///
/// No `drop` runs when the test process itself is killed. For that case a shell waits on a pipe which the system closes with
/// this process, and then kills the server. Asking the kernel to signal children at their parent's death would not do: it means
/// the parent's *thread*, and test threads end before their process.
pub(crate) struct Process {
    server: Child,
    guard: Child,
}

impl Process {
    pub(crate) fn spawn(arguments: &[String], log: File) -> io::Result<Process> {
        let mut server = Command::new(binary())
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()?;
        match guard(server.id()) {
            Ok(guard) => Ok(Process { server, guard }),
            Err(error) => {
                end(&mut server);
                Err(error)
            }
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.server.id()
    }

    /// How it ended, when it did.
    pub(crate) fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        self.server.try_wait()
    }

    /// Sends a signal by its name, such as `STOP`.
    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("sh")
            .args(["-c", r#"kill -s "$0" "$1""#, name, &self.id().to_string()])
            .status();
        assert!(
            sent.as_ref().is_ok_and(ExitStatus::success),
            "could not send SIG{name} to the Valkey server: {sent:?}"
        );
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The guard first: the server's id may belong to another process as soon as the server has been waited for.
        end(&mut self.guard);
        end(&mut self.server);
    }
}

fn guard(server_id: u32) -> io::Result<Child> {
    Command::new("sh")
        .args(["-c", r#"read -r _; kill -s KILL "$0""#, &server_id.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
}

/// Kills and reaps. Both fail only when the child is gone already, which is what is wanted.
fn end(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}
