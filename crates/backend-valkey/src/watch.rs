//! Which partitions were written to since somebody last looked into them: a sweep over hundreds of partitions in which
//! nothing happens costs one call per server.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use ff_backend::{Error, Result};
use ff_core::partition::Partition;

use crate::client::Nodes;
use crate::error::corrupt;
use crate::keys::prefix;
use crate::library::Function;
use crate::reply::text;
use crate::shared::Shared;

/// How long what was seen is believed at most. Writes by another version of the library are not counted, so everything is
/// looked at now and then whatever the counts say.
const BELIEVED_FOR: Duration = Duration::from_secs(600);

/// From how many partitions on it is worth to ask first which of them were written to.
const SWEEP_MIN: usize = 8;

/// The marks of all partitions at one moment.
pub(crate) struct Marks {
    /// Of a partition that nobody wrote to.
    untouched: u64,
    counts: HashMap<String, u64>,
}

impl Marks {
    /// Stands for how often a partition was written to; another one means that it was written to since.
    fn of(&self, partition: Partition) -> u64 {
        let count = self.counts.get(&prefix(partition)).copied().unwrap_or(0);
        hashed(&(self.untouched, count))
    }
}

/// What was seen of partitions, each with the mark it had.
#[derive(Default)]
pub(crate) struct Watch<T> {
    seen: HashMap<Partition, (u64, T)>,
}

impl<T: Clone> Watch<T> {
    /// What was seen of a partition, if it is known not to have been written to since.
    pub(crate) fn unchanged(&self, partition: Partition, marks: Option<&Marks>) -> Option<T> {
        let (seen, what) = self.seen.get(&partition)?;
        (*seen == marks?.of(partition)).then(|| what.clone())
    }

    /// This was seen of a partition after the marks were read.
    pub(crate) fn saw(&mut self, partition: Partition, marks: Option<&Marks>, what: T) {
        if let Some(marks) = marks {
            self.seen.insert(partition, (marks.of(partition), what));
        }
    }

    /// Nothing that was seen is believed any more.
    pub(crate) fn forget(&mut self) {
        self.seen.clear();
    }
}

impl Shared {
    /// How often every partition was written to, as far as each primary knows, for a sweep over so many of them. `None` when
    /// one of the primaries does not say, or when it is not worth to ask.
    pub(crate) async fn marks(&self, partitions: usize) -> Option<Marks> {
        if partitions < SWEEP_MIN {
            return None;
        }
        match self.ask_for_marks().await {
            Ok(marks) => Some(marks),
            Err(error) => {
                tracing::debug!(%error, "which partitions changed is not known; all are looked into");
                None
            }
        }
    }

    /// The answer to [`ff_backend::query::Listing::Marks`].
    pub(crate) async fn marks_of(&self, partitions: &[Partition]) -> Result<Vec<(Partition, u64)>> {
        let marks = self.ask_for_marks().await?;
        Ok(partitions
            .iter()
            .map(|partition| (*partition, marks.of(*partition)))
            .collect())
    }

    async fn ask_for_marks(&self) -> Result<Marks> {
        let mut command = redis::cmd("FCALL_RO");
        command.arg(Function::CHANGES.name()).arg(0);
        self.ask(0).write(&mut command);
        let unavailable = |error: redis::RedisError| Error::Unavailable(error.to_string());
        let replies = self
            .client
            .run_on(Nodes::Primaries, &command)
            .await
            .map_err(unavailable)?;
        let (mut origins, mut counts) = (Vec::new(), HashMap::new());
        for reply in replies {
            let answer = self.parse(reply.map_err(unavailable)?)?.answer;
            let (origin, pairs) = answer.split_first().ok_or_else(|| corrupt("no changes were told"))?;
            origins.push(text(origin)?.to_owned());
            for pair in pairs.chunks_exact(2) {
                let count: u64 = text(&pair[1])?.parse().map_err(corrupt)?;
                // Several nodes may have counted a partition that moved between them; any of them moves the sum.
                *counts.entry(text(&pair[0])?.to_owned()).or_insert(0) += count;
            }
        }
        origins.sort_unstable();
        let age = self.elapsed().as_secs() / BELIEVED_FOR.as_secs();
        Ok(Marks {
            untouched: hashed(&(origins, age)),
            counts,
        })
    }
}

fn hashed(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
