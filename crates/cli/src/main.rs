//! ff: FlowFabric in one binary.

mod at;
mod bench;
mod config;
mod conformance;
mod dev;
mod failure;
mod init;
mod key;
mod log;
mod migrate;
mod open;
mod process;
mod say;
mod serve;
mod verbs;
mod worker;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use failure::Class;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// FlowFabric: durable executions for work that takes minutes or days.
#[derive(Parser)]
#[command(name = "ff", version, max_term_width = 100)]
struct Arguments {
    /// How lines of the log look: text or json. FF_LOG says how much is logged
    #[arg(
        long,
        env = "FF_LOG_FORMAT",
        hide_env_values = true,
        global = true,
        value_name = "FORM",
        value_enum,
        hide_possible_values = true,
        default_value_t,
        display_order = 1_000,
        help_heading = "Where and how"
    )]
    log_format: log::Format,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serve an engine over HTTP
    Serve(Box<serve::Arguments>),
    Key(key::Arguments),
    /// Bring the schema of a PostgreSQL database up to date
    Migrate(migrate::Arguments),
    /// Start an engine on an embedded store, with a worker that shows how it works
    Dev(dev::Arguments),
    /// Write a worker to begin with
    Init(init::Arguments),
    /// Run a shell command for every task
    Worker(worker::Arguments),
    /// Check a worker against what every SDK must do
    Conformance(conformance::Arguments),
    /// The process of the demonstration's agent
    #[command(hide = true)]
    DemoWorker(dev::DemoWorker),
    /// Measure this machine
    Bench(bench::Arguments),
    #[command(flatten)]
    Verb(verbs::Verb),
}

/// How much is logged unless `FF_LOG` says: a server tells of every request, whoever is at a terminal reads what went wrong.
const fn usual_log(command: &Command) -> &'static str {
    match command {
        Command::Serve(_) => "info",
        _ => "warn",
    }
}

/// Everything `ff` can be asked for.
fn command() -> clap::Command {
    verbs::help::grouped(Arguments::command())
}

fn main() -> ExitCode {
    let read = command().try_get_matches();
    let arguments = match read.and_then(|read| Arguments::from_arg_matches(&read)) {
        Ok(arguments) => arguments,
        Err(refused) => return refused_arguments(&refused),
    };
    match run(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failure::tell(&error),
    }
}

/// Says what is wrong with the arguments, or what was asked about them.
fn refused_arguments(refused: &clap::Error) -> ExitCode {
    // Whether somebody reads it changes nothing.
    let _ = refused.print();
    if refused.use_stderr() {
        return ExitCode::from(Class::Other as u8);
    }
    ExitCode::SUCCESS
}

fn run(arguments: Arguments) -> anyhow::Result<()> {
    // Before the runtime: an exporter must not begin inside of one.
    let logs = log::begin(arguments.log_format, usual_log(&arguments.command))?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let ended = runtime.block_on(async {
        match arguments.command {
            Command::Serve(arguments) => serve::run(*arguments).await,
            Command::Key(arguments) => key::run(arguments).await,
            Command::Migrate(arguments) => migrate::run(arguments).await,
            Command::Dev(arguments) => dev::run(arguments).await,
            Command::Init(arguments) => init::run(&arguments),
            Command::Worker(arguments) => worker::run(arguments).await,
            Command::Conformance(arguments) => conformance::run(arguments).await,
            Command::DemoWorker(arguments) => dev::demo_worker(arguments).await,
            Command::Bench(arguments) => bench::run(arguments).await,
            Command::Verb(verb) => verbs::run(verb).await,
        }
    });
    logs.end();
    ended
}
