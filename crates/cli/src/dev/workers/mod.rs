//! Workers of whoever writes them: started, their logs told, and started again when a file changes. What they were doing goes on
//! in the next one, at the step where the one before stopped.
//!
//! | where | what |
//! |---|---|
//! | `watch`, `files` | which files have changed |

mod files;
mod watch;

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use tokio::sync::watch as channel;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use self::watch::{Changed, Watch};
use super::banner::Shown;
use crate::process::{Ended, Process, shell};
use crate::say;

/// How long a worker may take to come to its next step and end.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long a worker that was killed stays away: one that dies at once does not keep the machine busy.
const AFTER_A_KILL: Duration = Duration::from_secs(1);

/// Workers that are kept running.
pub(crate) struct Workers {
    kept: Vec<JoinHandle<()>>,
    stop: channel::Sender<bool>,
    _watch: Option<Watch>,
}

impl Workers {
    /// Starts a worker for each of these commands.
    pub(crate) fn start(commands: &[String], watched: &[PathBuf], shown: &Shown) -> anyhow::Result<Self> {
        let (stop, stopped) = channel::channel(false);
        if commands.is_empty() {
            return Ok(Self {
                kept: Vec::new(),
                stop,
                _watch: None,
            });
        }
        let watch = Watch::start(watched)?;
        let keep = |(number, command): (usize, &String)| {
            let worker = Worker {
                label: label(number, commands.len()),
                command: command.clone(),
                url: shown.url(),
            };
            tokio::spawn(worker.keep(watch.changes(), stopped.clone()))
        };
        Ok(Self {
            kept: commands.iter().enumerate().map(keep).collect(),
            stop,
            _watch: Some(watch),
        })
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Ends all of them, and waits until they have ended.
    pub(crate) async fn stop(self) {
        self.stop.send_replace(true);
        for kept in self.kept {
            if let Err(error) = kept.await {
                tracing::warn!(%error, "a worker was lost sight of");
            }
        }
    }
}

fn label(number: usize, all: usize) -> String {
    match all {
        1 => "worker".to_owned(),
        _ => format!("worker-{}", number + 1),
    }
}

/// One worker, from start to start.
struct Worker {
    label: String,
    command: String,
    url: String,
}

impl Worker {
    /// Starts it: it finds the server by `FF_URL`, and this program on its path, and gives back what it does at the next step
    /// when it is told to end.
    fn start(&self) -> anyhow::Result<Process> {
        let mut command = shell(&self.command);
        command.env("FF_URL", &self.url).env("FF_DRAIN", "at_step");
        command.env("PYTHONUNBUFFERED", "1");
        command.envs(path_with_ff().map(|path| ("PATH", path)));
        let label = self.label.clone();
        Process::start(command, move |line| say::line(format_args!("{label} | {line}")))
    }

    async fn keep(self, mut changes: channel::Receiver<Changed>, mut stopped: channel::Receiver<bool>) {
        loop {
            // What has changed by now is what is started.
            changes.mark_unchanged();
            let next = match self.start() {
                Ok(process) => {
                    self.tell(format_args!("started: {}", self.command));
                    self.watch_over(process, &mut changes, &mut stopped).await
                }
                Err(error) => {
                    self.tell(format_args!("cannot be started: {error}"));
                    Next::AfterChange
                }
            };
            match next {
                Next::Now => {}
                Next::Never => return,
                Next::Soon => tokio::select! {
                    () = sleep(AFTER_A_KILL) => {}
                    _ = stopped.wait_for(|stop| *stop) => return,
                },
                Next::AfterChange => tokio::select! {
                    Ok(()) = changes.changed() => {}
                    _ = stopped.wait_for(|stop| *stop) => return,
                },
            }
        }
    }

    /// Waits until it ends, or has to.
    async fn watch_over(
        &self,
        mut process: Process,
        changes: &mut channel::Receiver<Changed>,
        stopped: &mut channel::Receiver<bool>,
    ) -> Next {
        let next = tokio::select! {
            ended = process.wait() => {
                self.tell_end(&ended);
                return match ended {
                    Ended::Itself(status) if is_killed(status) => Next::Soon,
                    _ => Next::AfterChange,
                };
            }
            _ = stopped.wait_for(|stop| *stop) => Next::Never,
            Ok(()) = changes.changed() => {
                let path = changes.borrow().path.clone();
                self.tell(format_args!("{path} has changed: it ends at its next step, and starts again"));
                Next::Now
            }
        };
        self.tell_end(&process.end(PATIENCE).await);
        next
    }

    fn tell_end(&self, ended: &Ended) {
        match ended {
            Ended::Told(_) => {}
            Ended::Itself(status) if is_killed(*status) => {
                self.tell(format_args!("was killed ({status}): it starts again"));
            }
            Ended::Itself(status) => self.tell(format_args!(
                "has ended ({status}): it starts again when a file changes"
            )),
            Ended::Killed => self.tell("did not end in 30 s, and was killed: what it did runs again"),
            Ended::Unknown(error) => self.tell(format_args!("has ended, and nobody knows how: {error}")),
        }
    }

    fn tell(&self, what: impl std::fmt::Display) {
        say::line(format_args!("{} * {what}", self.label));
    }
}

/// Whether something else than the program itself has ended it; a shell says so of what it ran by a number.
fn is_killed(status: ExitStatus) -> bool {
    status.signal().is_some() || status.code().is_some_and(|code| code > 128)
}

/// Where programs are found, with this one among them: it may have been started by its path.
fn path_with_ff() -> Option<OsString> {
    let program = std::env::current_exe().ok()?;
    let here = program.parent()?.to_owned();
    let others = std::env::var_os("PATH").unwrap_or_default();
    let others = std::env::split_paths(&others);
    std::env::join_paths(others.chain([here])).ok()
}

/// When a worker that has ended is started again.
enum Next {
    Now,
    Soon,
    AfterChange,
    Never,
}
