//! One run of the command.

use std::os::unix::process::ExitStatusExt;
use std::process::{ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ff_core::payload::Payload;
use ff_sdk::{Ctx, Raw, State, TaskError};
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, ChildStdin};

use super::output::{self, ResultIs};
use super::variables;
use crate::process::{Group, shell};

/// The command says so: another try would not help.
const NOT_AGAIN: i32 = 65;
/// How long it may take to end once it is asked to; its handler is dropped a second later.
const GRACE: Duration = Duration::from_secs(4);

/// What is run.
#[derive(Clone)]
pub(super) struct Exec {
    pub(super) command: String,
    pub(super) result: ResultIs,
    /// Where the server is, for a command that asks it something.
    pub(super) url: Option<String>,
}

/// Runs the command for a task.
pub(super) async fn run_command(Raw(input): Raw, State(exec): State<Exec>, ctx: Ctx) -> Result<Payload, TaskError> {
    let mut child = start(&exec, &ctx, &input)?;
    let group = Group::of(&child);
    let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
        return Err(TaskError::transient("the command has no pipes"));
    };
    let is_stopping = AtomicBool::new(false);
    let end = async {
        let status = child.wait().await;
        if !is_stopping.load(Ordering::Relaxed) {
            // What it left behind would hold its output open.
            group.kill();
        }
        status
    };
    let result = async {
        let result = output::stream(stdout, &ctx, exec.result).await;
        if result.is_err() {
            group.kill();
        }
        result
    };
    let label = label(&ctx);
    let ended = async { tokio::join!(end, write(stdin, &input), result, output::repeat(stderr, &label)) };
    tokio::pin!(ended);
    let stop = tokio::select! {
        (status, (), result, said) = &mut ended => return judge(status?, result, &said?),
        stop = ctx.stopped() => stop,
    };
    is_stopping.store(true, Ordering::Relaxed);
    group.ask_to_end();
    // However it ends now, somebody has decided that it is over here.
    let _ = tokio::time::timeout(GRACE, ended).await;
    Err(stop.into())
}

fn start(exec: &Exec, ctx: &Ctx, input: &Payload) -> Result<Child, TaskError> {
    let mut command = shell(&exec.command);
    variables::tell(&mut command, ctx.task(), input);
    if let Some(url) = &exec.url {
        command.env("FF_URL", url);
    }
    let pipes = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    Ok(pipes.spawn()?)
}

/// Gives it its input. It need not read it.
async fn write(mut stdin: ChildStdin, input: &Payload) {
    let _ = stdin.write_all(&input.bytes).await;
}

/// What came of it.
fn judge(status: ExitStatus, result: Result<Payload, TaskError>, said: &str) -> Result<Payload, TaskError> {
    if status.success() {
        return result;
    }
    let how = match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("killed by signal {signal}"),
        (None, None) => "nobody knows how it ended".to_owned(),
    };
    let told = if said.is_empty() {
        how
    } else {
        format!("{said} ({how})")
    };
    match status.code() {
        Some(NOT_AGAIN) => Err(TaskError::permanent(told)),
        // Killed because of what it printed, which says more.
        None if result.is_err() => result,
        _ => Err(TaskError::transient(told)),
    }
}

/// Whom a line of its log is about.
fn label(ctx: &Ctx) -> String {
    let id = ctx.id().uuid().to_string();
    id[id.len() - 8..].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(code: i32) -> Result<Payload, TaskError> {
        judge(ExitStatus::from_raw(code << 8), Ok(Payload::default()), "no such file")
    }

    #[test]
    fn the_exit_code_decides_whether_it_is_tried_again() {
        assert!(ended(0).is_ok());
        let again = ended(1).unwrap_err();
        assert!(
            !again.is_permanent() && again.to_string() == "no such file (exit code 1)",
            "{again}"
        );
        assert!(ended(65).unwrap_err().is_permanent());
    }
}
