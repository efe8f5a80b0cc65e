//! What needs attention, over partitions of every family.

use ff_backend::Result;
use ff_backend::codec::key::record_key;
use ff_backend::due::{Due, DueItem, DueKey, DuePage};
use ff_core::ledger::AccountKey;
use ff_core::partition::{Family, Partition};
use ff_core::time::{Timestamp, earliest};
use redis::Value;

use crate::error::corrupt;
use crate::keys::prefix;
use crate::library::Function;
use crate::pack::count;
use crate::reply::{list, moment, text, values};
use crate::shared::{Shared, locked};
use crate::watch::Marks;

/// Partitions in one call at most.
const CALL_MAX: usize = 1_024;

/// What one partition has to do, as far as it was read.
struct Agenda {
    partition: Partition,
    now: Timestamp,
    items: Vec<DueItem>,
    next: Option<Timestamp>,
}

impl Agenda {
    /// The first thing there is to do.
    fn first(&self) -> Option<Timestamp> {
        earliest([self.items.iter().map(|item| item.due_at).min(), self.next])
    }
}

impl Shared {
    /// What is due in these partitions, longest overdue first.
    pub(crate) async fn due(&self, ask: Due) -> Result<DuePage> {
        let mut partitions = ask.partitions;
        partitions.sort_unstable();
        partitions.dedup();
        let marks = self.marks(partitions.len()).await;
        let mut next = self.leave_out_idle(&mut partitions, marks.as_ref());
        let asked = partitions.into_iter().map(|partition| (partition, ()));
        let agendas = self.in_groups(asked, CALL_MAX, |group| self.due_group(group, ask.limit));
        let agendas: Vec<Agenda> = agendas.await.into_iter().collect::<Result<_>>()?;
        for agenda in &agendas {
            locked(&self.agendas).saw(agenda.partition, marks.as_ref(), agenda.first());
        }
        let now = match agendas.iter().map(|agenda| agenda.now).min() {
            Some(now) => now,
            None => self.known_now().await?,
        };
        next = earliest([next, earliest(agendas.iter().map(|agenda| agenda.next))]);
        let found = agendas.into_iter().flat_map(|agenda| agenda.items);
        Ok(DuePage::of(now, found, ask.limit, next))
    }

    /// Leaves out partitions that nobody wrote to and in which nothing is due; answers when the first thing is.
    fn leave_out_idle(&self, partitions: &mut Vec<Partition>, marks: Option<&Marks>) -> Option<Timestamp> {
        let now = self.estimated_now()?;
        let (watch, mut next) = (locked(&self.agendas), None);
        partitions.retain(|partition| match watch.unchanged(*partition, marks) {
            Some(first) if first.is_none_or(|at| !at.has_come(now)) => {
                next = earliest([next, first]);
                false
            }
            _ => true,
        });
        next
    }

    async fn due_group(&self, group: Vec<(Partition, ())>, limit: usize) -> Result<Vec<Agenda>> {
        let mut ask = self.ask(2);
        ask.number(count(limit.saturating_add(1)))
            .texts(group.iter().map(|(partition, ())| prefix(*partition)));
        let reply = self.call(Function::DUE, group[0].0, ask).await?;
        let answers = group.into_iter().zip(reply.answer);
        answers
            .map(|((partition, ()), answer)| agenda(partition, answer, reply.now))
            .collect()
    }
}

fn agenda(partition: Partition, answer: Value, now: Timestamp) -> Result<Agenda> {
    let [timers, nudges] = values(answer)?;
    let (mut items, mut next) = (Vec::new(), None);
    for found in [timers, nudges] {
        for pair in list(found)?.chunks_exact(2) {
            let (key, due_at) = (due_key(partition, text(&pair[0])?)?, moment(&pair[1])?);
            if due_at.has_come(now) {
                items.push(DueItem { partition, key, due_at });
            } else {
                next = earliest([next, Some(due_at)]);
            }
        }
    }
    Ok(Agenda {
        partition,
        now,
        items,
        next,
    })
}

fn due_key(partition: Partition, name: &str) -> Result<DueKey> {
    let id = || name.split_once(':').map_or(name, |(_, id)| id);
    Ok(match partition.family {
        Family::Flow => DueKey::Record(record_key(partition, name)?),
        Family::Budget => DueKey::Account(AccountKey::Budget(id().parse().map_err(corrupt)?)),
        Family::Quota => DueKey::Account(AccountKey::Quota(id().parse().map_err(corrupt)?)),
    })
}
