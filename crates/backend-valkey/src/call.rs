//! Calling a function of the library: loads it when it is missing, tries again what was not run, and says when nobody knows.

use std::collections::HashMap;
use std::time::Duration;

use ff_backend::queues::Moment;
use ff_backend::transaction::Generation;
use ff_backend::{Error, Result};
use ff_core::partition::Partition;
use ff_core::time::Timestamp;
use futures::future::join_all;
use redis::{Cmd, RedisResult, Value};
use tokio::time::{Instant, sleep};

use crate::client::Nodes;
use crate::error::{Fate, corrupt, fate};
use crate::keys::prefix;
use crate::library::{Function, LIBRARY};
use crate::pack::Pack;
use crate::reply::{list, number, text, values};
use crate::shared::Shared;

/// How long a call that was not run is tried again: a failover or the move of a slot takes a while.
pub(crate) const PATIENCE: Duration = Duration::from_secs(15);
/// The first pause between two tries; each one is twice as long as the one before, up to the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(250));

/// What a function answered.
pub(crate) struct Reply {
    pub(crate) now: Timestamp,
    pub(crate) generation: Generation,
    pub(crate) answer: Vec<Value>,
}

impl Reply {
    /// When it was told, of a partition that had been written to so often.
    pub(crate) const fn moment(&self, changes: u64) -> Moment {
        Moment {
            generation: self.generation.0,
            changes,
        }
    }
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
        self.call_within(PATIENCE, function, &prefix(partition), ask).await
    }

    /// Calls a function where the keys with this prefix live; it is not tried again after `patience`.
    pub(crate) async fn call_within(
        &self,
        patience: Duration,
        function: Function,
        prefix: &str,
        ask: Pack,
    ) -> Result<Reply> {
        let command = command(function, prefix, ask);
        let (give_up_at, mut pause) = (Instant::now() + patience, PAUSES.0);
        loop {
            let error = match self.client.run(&command, prefix).await {
                Ok(reply) => return self.parse(reply),
                Err(error) => error,
            };
            match fate(&error) {
                Fate::NoLibrary if self.load_library().await.is_ok() => continue,
                Fate::NoLibrary | Fate::NotRun if Instant::now() < give_up_at => {
                    sleep(pause).await;
                    pause = (2 * pause).min(PAUSES.1);
                }
                Fate::NoLibrary | Fate::NotRun | Fate::Refused => return Err(Error::Unavailable(error.to_string())),
                Fate::Unknown if function.writes => return Err(Error::Unknown(error.to_string())),
                Fate::Unknown => return Err(Error::Unavailable(error.to_string())),
                // What it had written before it failed stays written.
                Fate::Broken if function.writes => {
                    tracing::error!(function = %function.name(), %error, "a function of the library failed in the middle");
                    return Err(Error::Unknown(error.to_string()));
                }
                Fate::Broken => return Err(corrupt(error)),
            }
        }
    }

    /// Takes a reply of a function apart: time, generation, answer.
    pub(crate) fn parse(&self, reply: Value) -> Result<Reply> {
        let [now, generation, answer] = values(reply)?;
        let now = Timestamp::from_millis(number(&now)?);
        self.was_told(now);
        Ok(Reply {
            now,
            generation: Generation(text(&generation)?.parse().map_err(corrupt)?),
            answer: list(answer)?,
        })
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

    /// Asks in few calls, at most so much in one: all partitions share a call on a single server, each has its own in a cluster.
    /// `call` answers what it is given, one by one; these answers come in the order of what was asked.
    pub(crate) async fn in_groups<T, A, F>(
        &self,
        asked: impl IntoIterator<Item = (Partition, T)>,
        most: usize,
        call: impl Fn(Vec<(Partition, T)>) -> F,
    ) -> Vec<Result<A>>
    where
        F: Future<Output = Result<Vec<A>>>,
    {
        let mut groups: Vec<Vec<(Partition, T)>> = Vec::new();
        let mut numbers: Vec<Vec<usize>> = Vec::new();
        // Where each partition's group that still takes something stands; on one server they all share it.
        let mut open: HashMap<Option<Partition>, usize> = HashMap::new();
        for (number, item) in asked.into_iter().enumerate() {
            let group = open
                .entry(self.client.is_cluster().then_some(item.0))
                .or_insert(usize::MAX);
            if groups.get(*group).is_none_or(|group| group.len() >= most) {
                *group = groups.len();
                groups.push(Vec::new());
                numbers.push(Vec::new());
            }
            groups[*group].push(item);
            numbers[*group].push(number);
        }
        let replies = join_all(groups.into_iter().map(call)).await;
        let mut answers = Vec::new();
        for (numbers, reply) in numbers.into_iter().zip(replies) {
            let mut reply = reply.map(Vec::into_iter);
            answers.extend(numbers.into_iter().map(|number| {
                let answer = match &mut reply {
                    Ok(answers) => answers.next().ok_or_else(|| corrupt("not everything was answered")),
                    Err(error) => Err(error.clone()),
                };
                (number, answer)
            }));
        }
        answers.sort_unstable_by_key(|(number, _)| *number);
        answers.into_iter().map(|(_, answer)| answer).collect()
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
