//! Where a server lives.

use std::env;
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;
use tokio::task::spawn_blocking;

use crate::account::stand_in;
use crate::guard::Guard;
use crate::options::Options;
use crate::programs::programs;

/// How the names of all directories begin.
pub(crate) const PREFIX: &str = "ff-postgres-";

/// Creating a database writes some hundred files, which takes a third of a second on a disk and a fiftieth in memory.
const MEMORY: &str = "/dev/shm";

/// A server is about forty megabytes large, the shared one more while many tests run. Containers often have much less.
const ROOM_KB: u64 = 1024 * 1024;

/// A temporary directory with the files of one server; dropping it removes it. When this process is killed, the guard does,
/// after it has ended the server.
pub(crate) struct Directory {
    // Dropped in this order.
    guard: Guard,
    temporary: TempDir,
}

impl Directory {
    pub(crate) fn make(options: &Options) -> Directory {
        let parent = if !options.on_disk() && memory_has_room() {
            PathBuf::from(MEMORY)
        } else {
            env::temp_dir()
        };
        let temporary = TempDir::with_prefix_in(PREFIX, &parent)
            .unwrap_or_else(|error| panic!("could not make a directory in {}: {error}", parent.display()));
        if let Some(account) = stand_in() {
            chown(temporary.path(), Some(account.user_id), Some(account.group_id))
                .expect("could not give a directory to the user who runs PostgreSQL");
        }
        let guard = Guard::start(temporary.path()).expect("could not start the guard of a PostgreSQL server");
        Directory { guard, temporary }
    }

    pub(crate) fn path(&self) -> &Path {
        self.temporary.path()
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.path().join("data")
    }

    /// Throws the data away.
    pub(crate) fn clear(&self) {
        fs::remove_dir_all(self.data()).expect("could not remove the data of a PostgreSQL server");
    }

    /// The file all output of the server goes to.
    pub(crate) fn log(&self) -> PathBuf {
        self.path().join("server.log")
    }

    pub(crate) fn open_log(&self) -> File {
        let log = OpenOptions::new().create(true).append(true).open(self.log());
        log.expect("could not open the log of a PostgreSQL server")
    }

    pub(crate) fn log_tail(&self) -> String {
        let text = fs::read_to_string(self.log()).unwrap_or_else(|error| error.to_string());
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(20)..].join("\n")
    }

    /// A program of PostgreSQL, run by somebody it accepts and in a place that one may enter.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(programs().join(program));
        command.current_dir(self.path()).env("LC_ALL", "C").env("TZ", "UTC");
        if let Some(account) = stand_in() {
            command.uid(account.user_id).gid(account.group_id);
        }
        command
    }

    /// Runs a program that fills the data, to its end, which must be a good one.
    pub(crate) async fn fill(&self, program: &str, arguments: &[&str]) {
        let mut command = self.command(program);
        command.args(arguments).arg("--pgdata").arg(self.data());
        let output = spawn_blocking(move || command.output()).await;
        let output = output.expect("nothing here panics or is cancelled");
        let output =
            output.unwrap_or_else(|error| panic!("could not run {program} in {}: {error}", programs().display()));
        assert!(
            output.status.success(),
            "{program} failed: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }

    /// Leaves the directory to those who hold the pipe of which this is the reading end.
    pub(crate) fn hand_over(self, users: Stdio) -> PathBuf {
        Guard::start_for(users, self.path()).expect("could not start the guard of the shared PostgreSQL server");
        let Directory { guard, temporary } = self;
        drop(guard);
        temporary.keep()
    }
}

/// Asked every time: what is free now may be full soon.
fn memory_has_room() -> bool {
    let Ok(output) = Command::new("df").args(["-Pk", MEMORY]).output() else {
        return false;
    };
    // A line of titles, then "tmpfs 24684096 0 24684096 0% /dev/shm".
    let text = String::from_utf8_lossy(&output.stdout);
    let available = text.lines().nth(1).and_then(|line| line.split_whitespace().nth(3));
    available.is_some_and(|kilobytes| kilobytes.parse().is_ok_and(|kilobytes: u64| kilobytes >= ROOM_KB))
}
