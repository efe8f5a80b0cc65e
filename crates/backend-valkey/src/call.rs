//! Calling a function of the library: loads it when it is missing, tries again what was not run, and says when nobody knows.

use std::collections::HashMap;
use std::time::Duration;

use ff_backend::transaction::Generation;
use ff_backend::{Error, Result};
use ff_core::partition::Partition;
use ff_core::time::Timestamp;
use redis::{Cmd, RedisResult, Value};
use tokio::time::{Instant, sleep};

use crate::client::Nodes;
use crate::error::{Fate, corrupt, fate};
use crate::keys::prefix;
use crate::library::{Function, LIBRARY};
use crate::pack::Pack;
use crate::reply::{list, number, text};
use crate::shared::Shared;

/// How long a call that was not run is tried again: a failover or the move of a slot takes a while.
pub(crate) const PATIENCE: Duration = Duration::from_secs(15);
/// The first pause between two tries; each one is twice as long as the one before, up to the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(250));

/// What a function answered.
pub(crate) struct Reply {
    pub(crate) now: Timestamp,
    pub(crate) generation: Generation,
    pub(crate) answer: Value,
}

impl Shared {
    /// The arguments of a call that takes `extra` values of its own.
    pub(crate) fn ask(&self, extra: usize) -> Pack {
        let mut ask = Pack::default();
        ask.list(3 + extra)
            .number(self.clock_offset_ms())
            .text(&self.channel)
            .number(self.feed_lines_max);
        ask
    }

    /// Calls a function where `partition` lives.
    pub(crate) async fn call(&self, function: Function, partition: Partition, ask: Pack) -> Result<Reply> {
        self.call_at(function, &prefix(partition), ask).await
    }

    /// The same, for a call that can go without an answer: it is not tried again after `patience`.
    pub(crate) async fn call_within(
        &self,
        patience: Duration,
        function: Function,
        partition: Partition,
        ask: Pack,
    ) -> Result<Reply> {
        let prefix = prefix(partition);
        let command = command(function, &prefix, ask);
        parse(self.run(function, &prefix, &command, patience).await?)
    }

    /// Calls a function where the keys with this prefix live.
    pub(crate) async fn call_at(&self, function: Function, prefix: &str, ask: Pack) -> Result<Reply> {
        let command = command(function, prefix, ask);
        parse(self.run(function, prefix, &command, PATIENCE).await?)
    }

    async fn run(&self, function: Function, prefix: &str, command: &Cmd, patience: Duration) -> Result<Value> {
        let (give_up_at, mut pause) = (Instant::now() + patience, PAUSES.0);
        loop {
            let error = match self.client.run(command, prefix).await {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            match fate(&error) {
                Fate::NoLibrary if self.load_library().await.is_ok() => continue,
                Fate::NoLibrary | Fate::NotRun if Instant::now() < give_up_at => {
                    sleep(pause).await;
                    pause = (2 * pause).min(PAUSES.1);
                }
                Fate::NoLibrary | Fate::NotRun | Fate::Refused => return Err(Error::Unavailable(error.to_string())),
                Fate::Unknown if function.writes() => return Err(Error::Unknown(error.to_string())),
                Fate::Unknown => return Err(Error::Unavailable(error.to_string())),
                // What it had written before it failed stays written.
                Fate::Broken if function.writes() => {
                    tracing::error!(function = %function.name(), %error, "a function of the library failed in the middle");
                    return Err(Error::Unknown(error.to_string()));
                }
                Fate::Broken => return Err(corrupt(error)),
            }
        }
    }

    /// Loads the library on every primary. One that has it already is as good.
    pub(crate) async fn load_library(&self) -> RedisResult<()> {
        let mut command = redis::cmd("FUNCTION");
        command.arg("LOAD").arg(&LIBRARY.text);
        for loaded in self.client.run_on(Nodes::Primaries, &command).await? {
            match loaded {
                Err(error) if !error.to_string().contains("already exists") => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    /// The calls that ask all of these partitions: one on a single server, one each in a cluster.
    pub(crate) fn groups<T>(&self, asked: Vec<(Partition, T)>, most: usize) -> Vec<Vec<(Partition, T)>> {
        let mut groups: Vec<Vec<(Partition, T)>> = Vec::new();
        // Where each partition's group that still takes something stands; on one server they all share it.
        let mut open: HashMap<Option<Partition>, usize> = HashMap::new();
        for (partition, item) in asked {
            let owner = self.client.is_cluster().then_some(partition);
            match open.get(&owner).filter(|group| groups[**group].len() < most) {
                Some(group) => groups[*group].push((partition, item)),
                None => {
                    open.insert(owner, groups.len());
                    groups.push(vec![(partition, item)]);
                }
            }
        }
        groups
    }
}

fn command(function: Function, prefix: &str, ask: Pack) -> Cmd {
    let mut command = Cmd::with_capacity(5 + ask.len(), 200 + ask.bytes());
    command.arg("FCALL");
    command.arg(function.name()).arg(2).arg(format!("{prefix}partition"));
    // The second key never exists. While a slot moves key by key, a call that names it is refused before it begins, on
    // both sides: no function ever sees half a partition.
    command.arg(format!("{prefix}never"));
    ask.write(&mut command);
    command
}

/// Takes a reply of a function apart: time, generation, answer.
pub(crate) fn parse(reply: Value) -> Result<Reply> {
    let mut parts = list(reply)?.into_iter();
    let mut next = || parts.next().ok_or_else(|| corrupt("a reply is too short"));
    Ok(Reply {
        now: Timestamp::from_millis(number(&next()?)?),
        generation: Generation(text(&next()?)?.parse().map_err(corrupt)?),
        answer: next()?,
    })
}
