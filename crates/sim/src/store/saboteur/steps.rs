//! Steps that are not kept, not kept apart, or not shown.

use ff_backend::load::{Load, LoadSteps, Snapshot};
use ff_backend::transaction::{Delete, Put, Transaction};
use ff_core::id::ExecutionId;
use ff_core::limits::PAGE_MAX;
use ff_core::payload::Payload;
use ff_core::record::{
    BlobKey, EffectKind, Execution, Forgotten, Phase, Record, RecordKey, Step, StepKind, StepState, UsageIdentity,
};

use super::Saboteur;
use super::transactions::executions;

/// The transaction without the costs of the steps it records.
pub(super) fn forget_costs(transaction: &mut Transaction) {
    for execution in executions(transaction) {
        let is_cost = |kind: &EffectKind| {
            matches!(
                kind,
                EffectKind::ReportUsage {
                    identity: UsageIdentity::Effect(_),
                    ..
                }
            )
        };
        execution.outbox.retain(|effect| !is_cost(&effect.kind));
    }
}

/// The transaction with other outputs than the steps have.
pub(super) fn mix_up_outputs(transaction: &mut Transaction) {
    for (key, output) in &mut transaction.blobs {
        if let BlobKey::Step(..) = key {
            let bytes: Vec<u8> = output.bytes.iter().map(|byte| !byte).collect();
            *output = Payload::binary(bytes);
        }
    }
}

/// Steps say that the next lease recorded them.
pub(super) fn raise_epochs(transaction: &mut Transaction) {
    for put in &mut transaction.puts {
        if let Record::Step(step) = &mut put.record {
            step.lease_epoch += 1;
        }
    }
}

/// The waits that begin here are recorded as if they were over.
pub(super) fn record_waits_early(transaction: &mut Transaction) {
    let begun: Vec<Step> = executions(transaction)
        .filter_map(|execution| begun_wait(execution))
        .collect();
    for step in begun {
        let key = RecordKey::Step(step.execution_id, step.key.clone());
        let guarded = transaction.guards.iter().any(|(guard, _)| *guard == key);
        if guarded {
            transaction.guards.retain(|(guard, _)| *guard != key);
            transaction.puts.push(Put::create(Record::from(step)));
        }
    }
}

fn begun_wait(execution: &Execution) -> Option<Step> {
    let wait = execution.suspension()?.step.as_ref()?;
    Some(Step {
        execution_id: execution.id,
        key: wait.key.clone(),
        seq: wait.seq,
        kind: StepKind::Wait,
        state: StepState::Done,
        attempt_index: 0,
        lease_epoch: execution.lease_epoch,
        recorded_at: execution.updated_at,
        started_at: None,
        output_bytes: None,
        content_digest: String::new(),
        input_digest: None,
        failure: None,
        usage: Default::default(),
        until: None,
        resumed_by: None,
        signals: Vec::new(),
        child: None,
        carried: Default::default(),
    })
}

/// The last step of every page is left out.
pub(super) fn hide_last_steps(loads: &[Load], snapshots: &mut [Snapshot]) {
    for (load, snapshot) in loads.iter().zip(snapshots) {
        for asked in &load.steps {
            let last = snapshot.steps(asked.execution_id).last().map(|step| step.key.clone());
            if let Some(key) = last {
                snapshot.records.remove(&RecordKey::Step(asked.execution_id, key));
            }
        }
    }
}

/// Whoever reads the steps of an execution that waits does not see that it does.
pub(super) fn hide_waits(loads: &[Load], snapshots: &mut [Snapshot]) {
    for (load, snapshot) in loads.iter().zip(snapshots) {
        if load.steps.is_empty() {
            continue;
        }
        for (record, _) in snapshot.records.values_mut() {
            if let Record::Execution(execution) = record
                && let Phase::Suspended(suspension) = &mut execution.phase
            {
                suspension.step = None;
            }
        }
    }
}

const fn is_step(put: &Put) -> bool {
    matches!(put.record, Record::Step(_))
}

impl Saboteur {
    /// What was recorded is not written, and nobody counts it.
    pub(super) async fn forget_steps(&self, transaction: &mut Transaction) {
        if !transaction.puts.iter().any(is_step) {
            return;
        }
        let before = self.written(transaction).await;
        transaction.puts.retain(|put| !is_step(put));
        for execution in executions(transaction) {
            if let Some(stored) = before.execution(&RecordKey::Execution(execution.id)) {
                execution.steps = stored.steps.clone();
            }
        }
    }

    /// The steps of executions whose lease is over are removed.
    pub(super) async fn drop_steps(&self, transaction: &mut Transaction) {
        let ids: Vec<ExecutionId> = executions(transaction)
            .filter(|execution| execution.runnable().is_some() && execution.steps.count > 0)
            .map(|execution| execution.id)
            .collect();
        let all = |execution_id| LoadSteps {
            execution_id,
            from_seq: 0,
            limit: PAGE_MAX,
            output_bytes: 0,
        };
        let load = Load::records(transaction.partition, []).with_steps(ids.into_iter().map(all));
        let loaded = self.inner.load(vec![load]).await.unwrap_or_default();
        let records = loaded.into_iter().flat_map(|snapshot| snapshot.records);
        let steps = records.map(|(_, (record, version))| Delete::of((&record, version)));
        let unwritten = steps.filter(|step| transaction.puts.iter().all(|put| put.record.key() != step.key));
        let unwritten: Vec<_> = unwritten.collect();
        transaction.deletes.extend(unwritten);
    }

    /// The next place stays the one before.
    pub(super) async fn keep_places(&self, transaction: &mut Transaction) {
        let before = self.written(transaction).await;
        for execution in executions(transaction) {
            if let Some(stored) = before.execution(&RecordKey::Execution(execution.id)) {
                execution.steps.next_seq = stored.steps.next_seq;
            }
        }
    }

    /// Nobody counts what is recorded.
    pub(super) async fn keep_counts(&self, transaction: &mut Transaction) {
        if !transaction.puts.iter().any(is_step) {
            return;
        }
        let before = self.written(transaction).await;
        for execution in executions(transaction) {
            if let Some(stored) = before.execution(&RecordKey::Execution(execution.id)) {
                execution.steps.count = stored.steps.count;
            }
        }
    }

    /// A new step is written over the one of its name, whatever that is.
    pub(super) async fn write_over(&self, transaction: &mut Transaction) {
        let now = self.written(transaction).await;
        let new = transaction
            .puts
            .iter_mut()
            .filter(|put| is_step(put) && put.expected.is_none());
        for put in new {
            put.expected = now.version(&put.record.key());
        }
    }

    /// A replay forgets everything, whatever it was to keep.
    pub(super) async fn forget_at_replays(&self, transaction: &mut Transaction) {
        let before = self.written(transaction).await;
        for execution in executions(transaction) {
            let stored = before.execution(&RecordKey::Execution(execution.id));
            let replayed = stored.is_some_and(|stored| stored.counts.replays < execution.counts.replays);
            if replayed && execution.steps.next_seq > 0 {
                let everything = Forgotten {
                    from: 0,
                    before: execution.steps.next_seq,
                    failed_only: false,
                };
                execution.steps.forgotten = vec![everything];
                (execution.steps.count, execution.steps.bytes) = (0, 0);
            }
        }
    }
}
