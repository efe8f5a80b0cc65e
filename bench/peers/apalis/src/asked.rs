//! What the command line asks for.

use std::str::FromStr;

use anyhow::{Context, bail};

pub struct Asked {
    pub store: String,
    pub tasks: usize,
    pub payload: usize,
    pub workers: usize,
    pub batch: usize,
    pub warmup: usize,
    /// Whether every task gets a lease of its own while it runs, which is its default. Tasks that end long before the next heartbeat
    /// of their worker need none, as its documentation says.
    pub leases: bool,
    /// Processes whose CPU time is the store's.
    pub store_processes: Vec<u32>,
}

impl Asked {
    pub fn read(mut arguments: impl Iterator<Item = String>) -> anyhow::Result<Self> {
        let mut asked = Self {
            store: String::new(),
            tasks: 20_000,
            payload: 4_096,
            workers: 16,
            batch: 32,
            warmup: 500,
            leases: false,
            store_processes: Vec::new(),
        };
        while let Some(option) = arguments.next() {
            let value = arguments.next().with_context(|| format!("{option} takes a value"))?;
            match option.as_str() {
                "--store" => asked.store = value,
                "--tasks" => asked.tasks = number(&option, &value)?,
                "--payload" => asked.payload = number(&option, &value)?,
                "--workers" => asked.workers = number(&option, &value)?,
                "--batch" => asked.batch = number(&option, &value)?,
                "--warmup" => asked.warmup = number(&option, &value)?,
                "--store-process" => asked.store_processes.push(number(&option, &value)?),
                "--leases" => asked.leases = value == "yes",
                "--scenario" if value == "s1" => {}
                _ => bail!("{option} {value} is not known here"),
            }
        }
        Ok(asked)
    }
}

fn number<T: FromStr>(option: &str, value: &str) -> anyhow::Result<T> {
    value
        .parse()
        .ok()
        .with_context(|| format!("{option} takes a whole number, not {value}"))
}
