//! Reading for one page: any commands over any partitions, in one call on a single server, one per partition in a cluster.

use std::collections::HashMap;

use ff_backend::Result;
use ff_core::partition::Partition;
use ff_core::record::RecordKey;
use ff_core::time::Timestamp;
use redis::Value;

use crate::error::corrupt;
use crate::keys::{INDEX, prefix};
use crate::library::Function;
use crate::pack::Pack;
use crate::shared::Shared;

/// Questions in one call at most: the server does nothing else meanwhile.
const CALL_MAX: usize = 512;

/// A reading command on one key of a partition.
pub(super) struct Command {
    verb: &'static str,
    /// The key without the prefix of its partition.
    key: String,
    arguments: Vec<String>,
}

impl Command {
    pub(super) fn new(verb: &'static str, key: impl Into<String>) -> Self {
        Self {
            verb,
            key: key.into(),
            arguments: Vec::new(),
        }
    }

    /// The members of a sorted set between two names.
    pub(super) fn names(set: &str, from: String, until: String) -> Self {
        Self::new("ZRANGE", set).args([from, until]).arg("BYLEX")
    }

    /// So many of the entries between two names, and these fields of the record of each.
    pub(super) fn listed(partition: Partition, from: String, until: String, count: usize, fields: &[&str]) -> Self {
        let command = Self::new("LISTED", INDEX).args([from, until, count.to_string(), prefix(partition)]);
        command.args(fields.iter().copied())
    }

    /// So many of what it would read.
    pub(super) fn first(self, count: usize) -> Self {
        self.args(["LIMIT", "0"]).arg(count.to_string())
    }

    /// With one more argument.
    pub(super) fn arg(mut self, argument: impl Into<String>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// With more arguments.
    pub(super) fn args<A: Into<String>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    fn write(&self, partition: Partition, pack: &mut Pack) {
        pack.list(2 + self.arguments.len()).text(self.verb);
        pack.text(format!("{}{}", prefix(partition), self.key));
        for argument in &self.arguments {
            pack.text(argument);
        }
    }
}

/// Commands of one partition that are answered at one moment.
pub(super) type Question = (Partition, Vec<Command>);

/// Reads for one page, and remembers the store's time.
pub(super) struct Reader<'s> {
    pub(super) shared: &'s Shared,
    now: Option<Timestamp>,
    /// The fields of records that came with the lists they stand in.
    pub(super) kept: HashMap<(Partition, RecordKey), Vec<Value>>,
}

impl<'s> Reader<'s> {
    pub(super) fn of(shared: &'s Shared) -> Self {
        Self {
            shared,
            now: None,
            kept: HashMap::new(),
        }
    }

    /// The earliest time that any reply told.
    pub(super) const fn now(&self) -> Option<Timestamp> {
        self.now
    }

    /// The replies to each question, in order.
    pub(super) async fn ask(&mut self, questions: Vec<Question>) -> Result<Vec<Vec<Value>>> {
        let shared = self.shared;
        let answers = shared.in_groups(questions, CALL_MAX, |group| call(shared, group));
        let mut replies = Vec::new();
        for answer in answers.await {
            let (now, reply) = answer?;
            self.now = Some(self.now.map_or(now, |before| before.min(now)));
            replies.push(reply);
        }
        Ok(replies)
    }

    /// What each of these partitions replies to a command.
    pub(super) async fn ask_all(
        &mut self,
        partitions: impl IntoIterator<Item = Partition>,
        command: impl Fn() -> Command,
    ) -> Result<Vec<(Partition, Value)>> {
        let partitions: Vec<Partition> = partitions.into_iter().collect();
        let commands = partitions.iter().map(|partition| (*partition, command()));
        let replies = self.ask_each(commands.collect()).await?;
        Ok(partitions.into_iter().zip(replies).collect())
    }

    /// The reply to one command for each partition, in order.
    pub(super) async fn ask_each(&mut self, commands: Vec<(Partition, Command)>) -> Result<Vec<Value>> {
        let questions = commands
            .into_iter()
            .map(|(partition, command)| (partition, vec![command]));
        let answers = self.ask(questions.collect()).await?;
        Ok(answers.into_iter().flatten().collect())
    }
}

/// The replies to each question, with the time.
async fn call(shared: &Shared, group: Vec<Question>) -> Result<Vec<(Timestamp, Vec<Value>)>> {
    let mut ask = shared.ask(1);
    ask.list(group.iter().map(|(_, commands)| commands.len()).sum());
    for (partition, commands) in &group {
        for command in commands {
            command.write(*partition, &mut ask);
        }
    }
    let reply = shared.call(Function::READ, group[0].0, ask).await?;
    let mut replies = reply.answer.into_iter();
    let answers = group.into_iter().map(|(_, commands)| {
        let answer: Vec<Value> = replies.by_ref().take(commands.len()).collect();
        match answer.len() == commands.len() {
            true => Ok((reply.now, answer)),
            false => Err(corrupt("a command was not answered")),
        }
    });
    answers.collect()
}
