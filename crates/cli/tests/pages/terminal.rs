//! A shell that is fed block after block, and what it prints.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

use crate::output::{Output, Silence};

/// Begins the line that the shell prints behind each block.
const MARK: char = '\u{1e}';
/// What a command ends with that was interrupted, killed or told to end, whether it says so by its code or not.
const STOPPED: [i32; 4] = [0, 130, 137, 143];

/// One shell.
pub(crate) struct Terminal {
    bash: Child,
    /// The files of blocks go here; without it, the shell ends.
    blocks: Option<ChildStdin>,
    output: Arc<Output>,
    /// Where the output of the newest block begins.
    begun: usize,
    /// Where what was not compared yet begins.
    compared: usize,
    is_running: bool,
}

/// How a block has ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    /// The line of the block that failed, 0 where no command did.
    pub(crate) line: usize,
}

impl Terminal {
    /// Starts a shell; `prepare` says where and with what.
    pub(crate) fn start(prepare: impl FnOnce(&mut Command)) -> Self {
        let mut command = Command::new("bash");
        command.args(["--noprofile", "--norc", "-c", include_str!("terminal.sh")]);
        prepare(&mut command);
        let mut bash = command
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("bash is installed");
        let output = Output::of(bash.stdout.take().expect("it prints into a pipe"));
        Self {
            blocks: bash.stdin.take(),
            bash,
            output,
            begun: 0,
            compared: 0,
            is_running: false,
        }
    }

    /// The group of everything that it starts.
    pub(crate) fn group(&self) -> u32 {
        self.bash.id()
    }

    /// Whether a block has not ended yet.
    pub(crate) const fn is_running(&self) -> bool {
        self.is_running
    }

    /// Begins to run the block in this file.
    pub(crate) fn run(&mut self, file: &Path) {
        self.begun = self.output.end();
        self.is_running = true;
        let blocks = self.blocks.as_mut().expect("it was not told to end");
        // A shell that has ended is noticed by whoever waits for its output.
        let _ = writeln!(blocks, "{}", file.display());
    }

    /// Waits until the block has ended.
    pub(crate) fn ended(&mut self, patience: Duration) -> Result<Ended, Silence> {
        let ended = self.output.wait(self.begun, patience, ended)?;
        self.is_running = false;
        Ok(ended)
    }

    /// Waits until the block has said something, or has ended without.
    pub(crate) fn said(&mut self, text: &str, patience: Duration) -> Result<Option<Ended>, Silence> {
        let look = |said: &str| match said.contains(text) {
            true => Some(None),
            false => ended(said).map(Some),
        };
        let found = self.output.wait(self.begun, patience, look)?;
        self.is_running = self.is_running && found.is_none();
        Ok(found)
    }

    /// Ctrl-C, and waits until what runs has ended.
    pub(crate) fn interrupt(&mut self, patience: Duration) -> Result<(), String> {
        if self.output.wait(self.begun, Duration::ZERO, ended).is_err() {
            let group = i32::try_from(self.group()).ok().and_then(Pid::from_raw);
            // The group may have ended just now.
            let _ = group.map(|group| kill_process_group(group, Signal::INT));
        }
        match self.ended(patience) {
            Ok(Ended { code, .. }) if STOPPED.contains(&code) => Ok(()),
            Ok(Ended { code, .. }) => Err(format!("should run until it is stopped, and has ended with {code}")),
            Err(Silence::TooLong) => Err(format!("still runs {} s after Ctrl-C", patience.as_secs())),
            Err(Silence::Over) => Err("has ended the shell".to_owned()),
        }
    }

    /// Compares with what the newest block has printed, or what it prints soon if it runs.
    pub(crate) fn compare_block<E>(
        &mut self,
        patience: Duration,
        compare: impl Fn(&str) -> Result<usize, E>,
    ) -> Result<(), E> {
        self.compare(self.begun, patience, compare)
    }

    /// Compares with what it has printed since it was last compared, or prints soon.
    pub(crate) fn compare_new<E>(
        &mut self,
        patience: Duration,
        compare: impl Fn(&str) -> Result<usize, E>,
    ) -> Result<(), E> {
        self.compare(self.compared, patience, compare)
    }

    fn compare<E>(
        &mut self,
        start: usize,
        patience: Duration,
        compare: impl Fn(&str) -> Result<usize, E>,
    ) -> Result<(), E> {
        let begun = self.begun;
        let look = |said: &str| match compare(&said[start..]) {
            Ok(end) => Some(Ok(start + end)),
            // Nothing more comes.
            Err(missing) => ended(&said[begun..]).map(|_| Err(missing)),
        };
        self.compared = match self.output.wait(0, patience, look) {
            Ok(compared) => compared?,
            Err(_) => start + compare(&self.output.since(start))?,
        };
        Ok(())
    }

    /// Lets the shell end.
    pub(crate) fn close(&mut self) {
        self.blocks = None;
    }

    /// Whether nobody is left who could print into it, now or soon.
    pub(crate) fn is_over_within(&self, patience: Duration) -> bool {
        self.output.is_over_within(patience)
    }

    /// What it has printed.
    pub(crate) fn printed(&self) -> String {
        let all = self.output.since(0);
        let lines = all.lines().filter(|line| !line.starts_with(MARK));
        lines.map(|line| format!("{line}\n")).collect()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It ends with its blocks, and the guard kills what does not: only its entry in the table of processes is left.
        self.close();
        let _ = self.bash.wait();
    }
}

/// How the block has ended that has printed this.
fn ended(said: &str) -> Option<Ended> {
    let line = said.lines().find_map(|line| line.strip_prefix(MARK))?;
    let (code, line) = line.split_once(' ')?;
    Some(Ended {
        code: code.parse().ok()?,
        line: line.parse().ok()?,
    })
}
