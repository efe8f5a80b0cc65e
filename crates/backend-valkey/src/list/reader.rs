//! Reading for one page: any commands over any partitions, in one call on a single server, one per partition in a cluster.

use ff_backend::Result;
use ff_core::partition::Partition;
use ff_core::time::Timestamp;
use futures::future::try_join_all;
use redis::Value;

use crate::error::corrupt;
use crate::keys::prefix;
use crate::library::Function;
use crate::pack::Pack;
use crate::reply::list;
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
}

impl<'s> Reader<'s> {
    pub(super) const fn of(shared: &'s Shared) -> Self {
        Self { shared, now: None }
    }

    /// The earliest time that any reply told.
    pub(super) const fn now(&self) -> Option<Timestamp> {
        self.now
    }

    /// The replies to each question, in order.
    pub(super) async fn ask(&mut self, questions: Vec<Question>) -> Result<Vec<Vec<Value>>> {
        let numbered = questions.into_iter().enumerate();
        let numbered = numbered.map(|(number, (partition, commands))| (partition, (number, commands)));
        let shared = self.shared;
        let groups = shared.groups(numbered.collect(), CALL_MAX).into_iter();
        let calls = groups.map(|group| call(shared, group));
        let mut answers = Vec::new();
        for (now, group) in try_join_all(calls).await? {
            self.now = Some(self.now.map_or(now, |before| before.min(now)));
            answers.extend(group);
        }
        answers.sort_unstable_by_key(|(number, _)| *number);
        Ok(answers.into_iter().map(|(_, replies)| replies).collect())
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

/// What one call was told: the time, and the replies to each question with its number.
type Told = (Timestamp, Vec<(usize, Vec<Value>)>);

async fn call(shared: &Shared, group: Vec<(Partition, (usize, Vec<Command>))>) -> Result<Told> {
    let mut ask = shared.ask(1);
    ask.list(group.iter().map(|(_, (_, commands))| commands.len()).sum());
    for (partition, (_, commands)) in &group {
        for command in commands {
            command.write(*partition, &mut ask);
        }
    }
    let reply = shared.call(Function::Read, group[0].0, ask).await?;
    shared.was_told(reply.now);
    let mut replies = list(reply.answer)?.into_iter();
    let mut answers = Vec::new();
    for (_, (number, commands)) in group {
        let answer: Vec<Value> = replies.by_ref().take(commands.len()).collect();
        if answer.len() < commands.len() {
            return Err(corrupt("a command was not answered"));
        }
        answers.push((number, answer));
    }
    Ok((reply.now, answers))
}
