//! What needs attention, over partitions of every family.

use std::collections::BTreeMap;

use ff_core::partition::Partition;
use ff_core::time::earliest;

use super::agenda::Agenda;
use super::store::Store;
use crate::due::{Due, DueItem, DuePage};

impl Store {
    /// What is due in these partitions, longest overdue first.
    pub(super) fn due(&self, ask: &Due) -> DuePage {
        let (now, limit) = (self.now, ask.limit);
        let (mut items, mut next) = (Vec::new(), None);
        for (partition, agenda) in self.agendas_of(&ask.partitions) {
            items.extend(self.due_in(partition, agenda, limit.saturating_add(1)));
            next = earliest([next, agenda.timers.next(now)]);
        }
        DuePage::of(now, items, limit, next)
    }

    fn agendas_of(&self, partitions: &[Partition]) -> BTreeMap<Partition, &Agenda> {
        let agendas = partitions
            .iter()
            .filter_map(|partition| Some((*partition, self.agendas.get(partition)?)));
        agendas.collect()
    }

    fn due_in(&self, partition: Partition, agenda: &Agenda, limit: usize) -> impl Iterator<Item = DueItem> {
        let (timers, nudges) = (agenda.timers.due(self.now), agenda.nudges.due(self.now));
        let found = timers.take(limit).chain(nudges.take(limit));
        found.map(move |(due_at, key)| DueItem {
            partition,
            key: key.clone(),
            due_at,
        })
    }
}
