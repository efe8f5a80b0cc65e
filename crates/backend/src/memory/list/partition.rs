//! The indexes of partitions: blocked, queued, leased, queues, and all records for an audit.

use std::collections::BTreeSet;
use std::ops::Bound;

use ff_core::id::{BudgetId, ExecutionId};
use ff_core::machine::placement::{QueueKey, Score};
use ff_core::partition::Partition;
use ff_core::record::{Cause, RecordKey};

use super::super::flaw::Flaw;
use super::super::store::{FlowPartition, Store, Stored};
use super::{Cut, Found};
use crate::Error;
use crate::codec::cursor::{QueueText, ScoreText};
use crate::codec::key::{name, record_key};
use crate::due::DueKey;
use crate::query::{AuditRow, QueueHead, Rows};

impl Store {
    pub(super) fn list_blocked(&self, partitions: &[Partition], cause: Cause, cut: &Cut) -> Found {
        let after = cut.after::<ScoreText>()?.map(|text| text.0);
        let blocked = self
            .flow_partitions(partitions)
            .map(|(_, found)| found.blocked.after(&cause, after.as_ref()));
        self.page_by_score(best_of(blocked, cut), cut)
    }

    pub(super) fn list_blocked_causes(&self, partitions: &[Partition], cut: &Cut) -> Found {
        let after = cut.after::<(Partition, Cause)>()?;
        let causes = self
            .flow_partitions(partitions)
            .flat_map(|(partition, found)| found.blocked.range(..).map(move |(cause, _)| (partition, *cause)));
        let rest = causes.filter(|row| after.as_ref().is_none_or(|after| row > after));
        let (rows, next) = cut.page(rest.map(|row| (row, Some(row))))?;
        Ok((Rows::Causes(rows), next))
    }

    pub(super) fn list_queued_under(&self, partitions: &[Partition], budget_id: BudgetId, cut: &Cut) -> Found {
        let start = cut.start::<ScoreText>()?.map(|text| text.0);
        let needs_budget = |queue: &QueueKey| queue.signature.budgets.contains(&budget_id) || self.shows_everything();
        let queues = in_order(partitions)
            .into_iter()
            .flat_map(|partition| self.queues.of_partition(partition))
            .filter(|(queue, _)| needs_budget(queue));
        let queued = queues.map(|(_, scores)| scores.range((start, Bound::Unbounded)));
        self.page_by_score(best_of(queued, cut), cut)
    }

    pub(super) fn list_leased_under(&self, partitions: &[Partition], budget_id: BudgetId, cut: &Cut) -> Found {
        let after = cut.after::<ExecutionId>()?;
        let leased = self
            .flow_partitions(partitions)
            .map(|(_, found)| found.leased_under.after(&budget_id, after.as_ref()));
        let leased = best_of(leased, cut).into_iter();
        let (rows, next) = cut.page(leased.map(|id| (id, self.execution_row(id))))?;
        Ok((Rows::Executions(rows), next))
    }

    pub(super) fn list_queues(&self, partitions: &[Partition], cut: &Cut) -> Found {
        let after = cut
            .after::<(Partition, QueueText)>()?
            .map(|(partition, text)| (partition, text.0));
        let queues = in_order(partitions).into_iter().flat_map(|partition| {
            let queues = self.queues.of_partition(partition);
            queues.map(move |(queue, scores)| ((partition, queue), scores))
        });
        let rest = queues.filter(|(key, _)| {
            after
                .as_ref()
                .is_none_or(|(partition, queue)| *key > (*partition, queue))
        });
        let (rows, next) = cut.page(rest.map(|((partition, queue), scores)| {
            let head = scores.first().map(|head| QueueHead {
                partition,
                queue: queue.clone(),
                head: *head,
                length: scores.len() as u64,
            });
            ((partition, QueueText(queue.clone())), head)
        }))?;
        Ok((Rows::Queues(rows), next))
    }

    fn page_by_score(&self, mut scores: Vec<Score>, cut: &Cut) -> Found {
        if self.flawed(Flaw::ListPartitionByPartition) {
            scores.sort_by_key(|score| score.id.partition());
        }
        let (rows, next) = cut.page(
            scores
                .into_iter()
                .map(|score| (ScoreText(score), self.execution_row(score.id))),
        )?;
        Ok((Rows::Executions(rows), next))
    }

    pub(super) fn list_audit(&self, partition: Partition, cut: &Cut) -> Found {
        let after = cut.after::<String>()?.map(|name| record_key(partition, &name));
        let after = after.transpose().map_err(|_| Error::InvalidCursor)?;
        let start = after.map_or(Bound::Unbounded, Bound::Excluded);
        let records = self
            .flow_partition(partition)
            .flat_map(|found| found.records.range((start.clone(), Bound::Unbounded)));
        let (rows, next) =
            cut.page(records.map(|(key, stored)| (name(key), Some(self.audit_row(partition, key, stored)))))?;
        Ok((Rows::Audit(rows), next))
    }

    fn audit_row(&self, partition: Partition, key: &RecordKey, stored: &Stored) -> AuditRow {
        let agenda = self.agendas.get(&partition);
        AuditRow {
            record: stored.record.clone(),
            placement: stored.entries.placement.clone(),
            due_at: agenda.and_then(|agenda| agenda.timers.get(&DueKey::Record(key.clone()))),
        }
    }

    fn flow_partition(&self, partition: Partition) -> impl Iterator<Item = &FlowPartition> {
        self.partitions.get(&partition).into_iter()
    }

    /// The partitions that hold anything, in order.
    fn flow_partitions(&self, partitions: &[Partition]) -> impl Iterator<Item = (Partition, &FlowPartition)> {
        let found = |partition| self.partitions.get(&partition).map(|found| (partition, found));
        in_order(partitions).into_iter().filter_map(found)
    }
}

/// Each partition once.
fn in_order(partitions: &[Partition]) -> BTreeSet<Partition> {
    partitions.iter().copied().collect()
}

/// The rows of several indexes in one order: enough of each to fill the page and to know whether there is more.
fn best_of<'s, K: Ord + Copy + 's>(indexes: impl Iterator<Item = impl Iterator<Item = &'s K>>, cut: &Cut) -> Vec<K> {
    let mut best: Vec<K> = indexes.flat_map(|index| index.take(cut.reach())).copied().collect();
    best.sort_unstable();
    best
}
