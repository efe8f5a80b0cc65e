//! The indexes of one partition: blocked, queued, leased, queues, and all records for an audit.

use std::ops::Bound;

use ff_core::id::{BudgetId, ExecutionId};
use ff_core::machine::placement::QueueKey;
use ff_core::partition::Partition;
use ff_core::record::{Cause, RecordKey};

use super::super::store::{FlowPartition, Store, Stored};
use super::keys::{QueueText, RecordText, ScoreText};
use super::{Cut, Found};
use crate::due::DueKey;
use crate::query::{AuditRow, QueueHead, Rows};

impl Store {
    pub(super) fn list_blocked(&self, partition: Partition, cause: Cause, cut: &Cut) -> Found {
        let after = cut.after::<ScoreText>()?.map(|text| text.0);
        let blocked = self
            .flow_partition(partition)
            .flat_map(|found| found.blocked.after(&cause, after.as_ref()));
        let (rows, next) = cut.page(blocked.map(|score| (ScoreText(*score), self.execution_row(score.id))))?;
        Ok((Rows::Executions(rows), next))
    }

    pub(super) fn list_blocked_causes(&self, partition: Partition, cut: &Cut) -> Found {
        let start = cut.start::<Cause>()?;
        let blocked = self
            .flow_partition(partition)
            .flat_map(|found| found.blocked.range((start, Bound::Unbounded)));
        let (rows, next) = cut.page(blocked.map(|(cause, _)| (cause, Some(*cause))))?;
        Ok((Rows::Causes(rows), next))
    }

    /// The rows of several queues in one order: enough of each to fill the page and to know whether there is more.
    pub(super) fn list_queued_under(&self, partition: Partition, budget_id: BudgetId, cut: &Cut) -> Found {
        let start = cut.start::<ScoreText>()?.map(|text| text.0);
        let needs_budget = |queue: &QueueKey| queue.signature.budgets.contains(&budget_id) || self.shows_everything();
        let queues = self
            .queues
            .of_partition(partition)
            .filter(|(queue, _)| needs_budget(queue));
        let scores = queues.flat_map(|(_, scores)| scores.range((start, Bound::Unbounded)).take(cut.reach()));
        let mut scores: Vec<ScoreText> = scores.copied().map(ScoreText).collect();
        scores.sort_unstable();
        let (rows, next) = cut.page(scores.into_iter().map(|score| {
            let row = self.execution_row(score.0.id);
            (score, row)
        }))?;
        Ok((Rows::Executions(rows), next))
    }

    pub(super) fn list_leased_under(&self, partition: Partition, budget_id: BudgetId, cut: &Cut) -> Found {
        let after = cut.after::<ExecutionId>()?;
        let leased = self
            .flow_partition(partition)
            .flat_map(|found| found.leased_under.after(&budget_id, after.as_ref()));
        let (rows, next) = cut.page(leased.map(|id| (id, self.execution_row(*id))))?;
        Ok((Rows::Executions(rows), next))
    }

    pub(super) fn list_queues(&self, partition: Partition, cut: &Cut) -> Found {
        let after = cut.after::<QueueText>()?.map(|text| text.0);
        let queues = self.queues.of_partition(partition);
        let rest = queues.filter(|(queue, _)| after.as_ref().is_none_or(|after| *queue > after));
        let (rows, next) = cut.page(rest.map(|(queue, scores)| {
            let head = scores.first().map(|head| QueueHead {
                queue: queue.clone(),
                head: *head,
                length: scores.len() as u64,
            });
            (QueueText(queue.clone()), head)
        }))?;
        Ok((Rows::Queues(rows), next))
    }

    pub(super) fn list_audit(&self, partition: Partition, cut: &Cut) -> Found {
        let start = cut.start::<RecordText>()?.map(|text| text.0);
        let records = self
            .flow_partition(partition)
            .flat_map(|found| found.records.range((start.clone(), Bound::Unbounded)));
        let (rows, next) = cut.page(
            records.map(|(key, stored)| (RecordText(key.clone()), Some(self.audit_row(partition, key, stored)))),
        )?;
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
}
