//! Who keeps a process of the agent running, and tells what it says.

use std::os::unix::process::ExitStatusExt;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Context;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;

use super::agent::{Said, Stepped};
use crate::dev::voice::Voice;
use crate::verbs::output::Ink;

/// Whom the lines are about.
const AGENT: &str = "demo-agent";
/// The first process is killed when this step is recorded.
const DIES_AFTER: &str = "llm#1";
/// The signal that nobody can hear.
const KILLED: i32 = 9;

/// Keeps a process of the agent running.
#[derive(Default)]
pub(super) struct Keeper {
    asked: AtomicU64,
}

impl Keeper {
    /// How often the model was asked, by all processes together.
    pub(super) fn asked(&self) -> u64 {
        self.asked.load(Ordering::Relaxed)
    }

    /// Starts a process, and another when it is killed.
    pub(super) fn start(self: Arc<Self>, url: String, voice: Voice) -> Kept {
        Kept(tokio::spawn(async move { self.keep(&url, voice).await }))
    }

    /// Returns only when that cannot go on, and says why.
    async fn keep(&self, url: &str, voice: Voice) -> anyhow::Error {
        let (mut number, mut dies_after) = (1, Some(DIES_AFTER));
        loop {
            match self.run(number, url, dies_after.take(), voice).await {
                Ok(ended) if ended.signal() == Some(KILLED) => {
                    let told = format!("process {number} is killed (kill -9): it says goodbye to nobody");
                    voice.tell(AGENT, Ink::Bad, told);
                }
                Ok(ended) => return anyhow::anyhow!("process {number} of the agent has ended: {ended}"),
                Err(error) => return error,
            }
            number += 1;
        }
    }

    async fn run(&self, number: u32, url: &str, dies_after: Option<&str>, voice: Voice) -> anyhow::Result<ExitStatus> {
        let mut child = start(url, dies_after).context("the agent's process cannot be started")?;
        let told = child.stdout.take().context("it has no output")?;
        let mut lines = BufReader::new(told).lines();
        while let Some(line) = lines.next_line().await? {
            match serde_json::from_str(&line) {
                Ok(Said::Begins) => {
                    let again = if number > 1 { ", again from its first line" } else { "" };
                    voice.tell(AGENT, Ink::Busy, format_args!("runs in process {number}{again}"));
                }
                Ok(Said::Stepped(stepped)) => self.tell(&stepped, voice),
                Err(_) => voice.add(line),
            }
        }
        Ok(child.wait().await?)
    }

    fn tell(&self, stepped: &Stepped, voice: Voice) {
        let Stepped {
            step,
            text,
            tokens,
            from_journal,
        } = stepped;
        let costs = *tokens > 0;
        if *from_journal {
            let saved = if costs {
                "not asked again, not paid again"
            } else {
                "not done again"
            };
            return voice.tell(AGENT, Ink::Good, format_args!("{step:<9} from the journal: {saved}"));
        }
        self.asked.fetch_add(u64::from(costs), Ordering::Relaxed);
        let cost = if costs {
            format!("  ({tokens} tokens)")
        } else {
            String::new()
        };
        voice.tell(AGENT, Ink::Plain, format_args!("{step:<9} {text:?}{cost}"));
    }
}

/// A process that is kept running until this is dropped.
pub(super) struct Kept(JoinHandle<anyhow::Error>);

impl Kept {
    /// Why it cannot be kept running.
    pub(super) async fn broke(&mut self) -> anyhow::Error {
        (&mut self.0).await.unwrap_or_else(anyhow::Error::from)
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn start(url: &str, dies_after: Option<&str>) -> anyhow::Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("demo-worker").env("FF_URL", url);
    if let Some(step) = dies_after {
        command.args(["--dies-after", step]);
    }
    // It ends when its standard input does, whatever happens to this process.
    Ok(command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?)
}
