//! ff: FlowFabric in one binary.

mod bench;
mod config;
mod dev;
mod key;
mod log;
mod migrate;
mod open;
mod say;
mod serve;

use clap::{Parser, Subcommand};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// FlowFabric: durable executions for work that takes minutes or days.
#[derive(Parser)]
#[command(version, max_term_width = 100)]
struct Arguments {
    /// How lines of the log look. FF_LOG says how much is logged
    #[arg(long, env = "FF_LOG_FORMAT", global = true, value_enum, default_value_t)]
    log_format: log::Format,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serve an engine over HTTP
    Serve(Box<serve::Arguments>),
    /// Make, list and revoke the keys that callers show
    Key(key::Arguments),
    /// Bring the schema of a PostgreSQL database up to date
    Migrate(migrate::Arguments),
    /// Start an engine on an embedded store, with a worker that shows how it works
    Dev(dev::Arguments),
    /// Measure this machine
    Bench(bench::Arguments),
}

/// How much is logged unless `FF_LOG` says: a server tells of every request, whoever is at a terminal reads what went wrong.
const fn usual_log(command: &Command) -> &'static str {
    match command {
        Command::Serve(_) => "info",
        _ => "warn",
    }
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    // Before the runtime: an exporter must not begin inside of one.
    let logs = log::begin(arguments.log_format, usual_log(&arguments.command))?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let ended = runtime.block_on(async {
        match arguments.command {
            Command::Serve(arguments) => serve::run(*arguments).await,
            Command::Key(arguments) => key::run(arguments).await,
            Command::Migrate(arguments) => migrate::run(arguments).await,
            Command::Dev(arguments) => dev::run(arguments).await,
            Command::Bench(arguments) => bench::run(arguments).await,
        }
    });
    logs.end();
    ended
}
