//! `ff worker --exec`: a shell command for every task.
//!
//! | where | what |
//! |---|---|
//! | `command` | one run of the command, from its input to its end |
//! | `variables` | what its environment says of the task |
//! | `output` | its lines: frames, and the result |

mod command;
mod output;
mod variables;

use std::time::Duration;

use ff_sdk::{Client, Drain, DrainThen, Worker};

use self::command::{Exec, run_command};
use crate::say;

/// What `--help` says besides.
pub(crate) const CONTRACT: &str = "\
The command is run by `sh -c`, once per task, with nothing put into it: the input is its standard input.

  FF_EXECUTION_ID  FF_ATTEMPT (from 0)  FF_KIND  FF_LANE  FF_NAMESPACE  FF_TAGS (a JSON object)
  FF_INPUT_TYPE (of standard input)  FF_URL
  and where there is one: FF_FLOW_ID  FF_DEADLINE_MS  FF_TIER_PROVIDER  FF_TIER_MODEL

Every line it prints becomes a frame of type `line` while it runs, if it is text. Its last line is the result, as JSON if it
is JSON and as text if not; --result all takes everything it printed.

  exit code 0    the task is done
  exit code 65   it has failed, and is not tried again (EX_DATAERR: the input is wrong)
  any other      it has failed, and is tried again as its policy says; the end of what it said on
                 standard error is the reason

A task that is cancelled or lost sends SIGTERM to the command and everything it started, and SIGKILL four seconds later.";

/// Run a shell command for every task.
#[derive(clap::Args)]
#[command(after_long_help = CONTRACT)]
pub(crate) struct Arguments {
    /// The command, for `sh -c`; the task's input is its standard input
    #[arg(long, value_name = "COMMAND")]
    exec: String,
    /// A kind of execution it runs; may be given several times
    #[arg(long = "kind", value_name = "KIND", required = true)]
    kinds: Vec<String>,
    /// A lane to take work from; may be given several times
    #[arg(long = "lane", value_name = "LANE", default_value = "default")]
    lanes: Vec<String>,
    /// How many run at once
    #[arg(long, default_value_t = 1)]
    concurrency: usize,
    /// What the worker is called
    #[arg(long, default_value = "exec")]
    name: String,
    /// Something it offers, for tasks that require it; may be given several times
    #[arg(long = "capability", value_name = "CAPABILITY")]
    capabilities: Vec<String>,
    /// What the result is
    #[arg(long, value_enum, default_value_t)]
    result: output::ResultIs,
    /// How many seconds commands that run may take to end when the worker is told to
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    drain: u64,
    /// The address of the server, which is shown the key in FF_KEY [default: http://127.0.0.1:7117]
    #[arg(long, env = "FF_URL", hide_env_values = true)]
    url: Option<String>,
}

/// Works until it is told to stop.
pub(crate) async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let client = client(arguments.url.as_deref())?;
    let exec = Exec {
        command: arguments.exec,
        result: arguments.result,
        url: client.remote().map(|remote| remote.url().to_owned()),
    };
    let mut worker = Worker::new(client)
        .name(arguments.name)
        .lanes(arguments.lanes.clone())
        .capabilities(arguments.capabilities)
        .concurrency(arguments.concurrency)
        .state(exec)
        .drain(Drain {
            timeout: Duration::from_secs(arguments.drain),
            then: DrainThen::Drop,
        });
    for kind in &arguments.kinds {
        worker = worker.on(kind.clone(), run_command);
    }
    let worker = worker.build()?;
    let (kinds, lanes) = (arguments.kinds.join(", "), arguments.lanes.join(", "));
    say::aside(format_args!("{} waits for {kinds} in {lanes}", worker.instance()));
    Ok(worker.run().await?)
}

/// A client of the server that is named, or that the environment names.
fn client(url: Option<&str>) -> ff_sdk::Result<Client> {
    let Some(url) = url else {
        return Client::from_env();
    };
    let client = Client::connect(url);
    match std::env::var("FF_KEY").ok().filter(|key| !key.is_empty()) {
        Some(key) => client.key(key).open(),
        None => client.open(),
    }
}
