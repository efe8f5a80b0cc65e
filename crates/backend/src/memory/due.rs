//! What needs attention, over partitions of every family.

use std::collections::BTreeMap;

use ff_core::partition::Partition;
use ff_core::time::{Timestamp, earliest};

use super::agenda::Agenda;
use super::flaw::Flaw;
use super::store::Store;
use crate::due::{Due, DueItem, DueKey, DuePage};

impl Store {
    /// What is due in these partitions, longest overdue first.
    pub(super) fn due(&self, ask: &Due) -> DuePage {
        let now = self.now;
        let limit = if self.flawed(Flaw::DueIgnoresLimit) {
            usize::MAX
        } else {
            ask.limit
        };
        let (mut items, mut next) = (Vec::new(), None);
        for (partition, agenda) in self.agendas_of(&ask.partitions) {
            items.extend(self.due_in(partition, agenda, limit.saturating_add(1)));
            next = earliest([next, agenda.timers.next(now)]);
        }
        items.sort_by(|a, b| (a.due_at, &a.key, a.partition).cmp(&(b.due_at, &b.key, b.partition)));
        let first_left = items.get(limit).map(|item| item.due_at);
        items.truncate(limit);
        if self.flawed(Flaw::DueUnordered) {
            items.reverse();
        }
        DuePage {
            now,
            items,
            next: earliest([first_left, next]),
        }
    }

    fn agendas_of(&self, partitions: &[Partition]) -> BTreeMap<Partition, &Agenda> {
        let agendas = partitions
            .iter()
            .filter_map(|partition| Some((*partition, self.agendas.get(partition)?)));
        agendas.collect()
    }

    /// A record whose timer has come and that was nudged is reported once, since the earlier of both.
    fn due_in(&self, partition: Partition, agenda: &Agenda, limit: usize) -> Vec<DueItem> {
        let nudges = agenda
            .nudges
            .due(self.now)
            .filter(|_| !self.flawed(Flaw::DueForgetsNudges));
        let mut since: BTreeMap<&DueKey, Timestamp> = BTreeMap::new();
        for (at, key) in agenda.timers.due(self.now).take(limit).chain(nudges.take(limit)) {
            let first = since.entry(key).or_insert(at);
            *first = at.min(*first);
        }
        let items = since.into_iter().map(|(key, due_at)| DueItem {
            partition,
            key: key.clone(),
            due_at,
        });
        items.collect()
    }
}
