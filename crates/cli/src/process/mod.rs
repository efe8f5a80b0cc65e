//! Commands of whoever uses `ff`, while they run: each is a group of processes, which nothing that it started outlives.

mod group;

use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use anyhow::Context;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;

pub(crate) use group::Group;

/// A command for the shell, first of a group of its own: Ctrl-C in the terminal does not reach it, so that it is ended in order.
pub(crate) fn shell(command: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).process_group(0).kill_on_drop(true);
    shell
}

/// A command that runs, and whose lines are told.
pub(crate) struct Process {
    child: Child,
    group: Group,
    /// Each ends when nobody is left who could say something.
    telling: Vec<JoinHandle<()>>,
}

/// How a command ended.
#[derive(Debug)]
pub(crate) enum Ended {
    /// Nobody told it to.
    Itself(ExitStatus),
    /// It was told to, and did.
    Told(ExitStatus),
    /// It was told to, and did not.
    Killed,
    /// Nobody knows.
    Unknown(std::io::Error),
}

impl Process {
    /// Starts a command, and tells every line that it says.
    pub(crate) fn start(mut command: Command, tell: impl Fn(&str) + Clone + Send + 'static) -> anyhow::Result<Self> {
        let command = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().context("there is no shell")?;
        let group = Group::of(&child);
        let out = child.stdout.take().map(|out| tell_lines(out, tell.clone()));
        let err = child.stderr.take().map(|err| tell_lines(err, tell));
        Ok(Self {
            child,
            group,
            telling: out.into_iter().chain(err).collect(),
        })
    }

    /// Waits until it has ended by itself.
    pub(crate) async fn wait(&mut self) -> Ended {
        let status = self.gone().await;
        status.map_or_else(Ended::Unknown, Ended::Itself)
    }

    /// Tells it to end, and ends it when it does not.
    pub(crate) async fn end(mut self, patience: Duration) -> Ended {
        self.group.ask_to_end();
        match tokio::time::timeout(patience, self.gone()).await {
            Ok(status) => status.map_or_else(Ended::Unknown, Ended::Told),
            Err(_) => {
                self.kill().await;
                Ended::Killed
            }
        }
    }

    /// Ends it where it is.
    pub(crate) async fn kill(mut self) {
        self.group.kill();
        if let Err(error) = self.child.wait().await {
            tracing::warn!(%error, "a process that was killed is lost sight of");
        }
    }

    /// Waits until everything is gone. A shell may end before what it has started does, which still holds the other ends of what
    /// is read.
    async fn gone(&mut self) -> std::io::Result<ExitStatus> {
        let status = self.child.wait().await;
        for told in self.telling.drain(..) {
            // What it panicked about was told.
            let _ = told.await;
        }
        status
    }
}

fn tell_lines(from: impl AsyncRead + Send + Unpin + 'static, tell: impl Fn(&str) + Send + 'static) -> JoinHandle<()> {
    tokio::spawn(async move {
        let mut lines = BufReader::new(from).split(b'\n');
        while let Ok(Some(line)) = lines.next_segment().await {
            tell(readable(line).trim_end_matches('\r'));
        }
    })
}

/// A line for people: bytes that are no text are escaped.
pub(crate) fn readable(line: Vec<u8>) -> String {
    String::from_utf8(line).unwrap_or_else(|not_text| not_text.as_bytes().escape_ascii().to_string())
}
