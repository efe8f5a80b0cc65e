//! Transactions that are not what they should be.

use ff_backend::load::{Load, Snapshot};
use ff_backend::transaction::{Delete, Put, Tag, Transaction};
use ff_core::id::ExecutionId;
use ff_core::name::IdempotencyKey;
use ff_core::record::{Execution, IdempotencyScope, Phase, Record, RecordKey, RequestLog, SubmissionKeyRecord};
use ff_core::time::Duration;

use super::{Sabotage, Saboteur, flows, steps};

impl Saboteur {
    /// The transaction as it is sent to the store.
    pub(super) async fn spoil(&self, mut transaction: Transaction) -> Transaction {
        match self.sabotage {
            Sabotage::NoVersionCheck => self.overwrite(&mut transaction).await,
            Sabotage::NoNotAfter => transaction.not_after = None,
            Sabotage::IncrementsApart => self.send_increments_ahead(&mut transaction).await,
            Sabotage::OutboxDropped => executions(&mut transaction).for_each(|execution| execution.outbox.clear()),
            Sabotage::GateGuardRemoved => transaction.guards.retain(|(key, _)| !matches!(key, RecordKey::Gate(_))),
            Sabotage::NudgeLost => transaction.nudges.clear(),
            Sabotage::EpochNotRaised => self.keep_epochs(&mut transaction).await,
            Sabotage::GrantRedeemedTwice => {
                let before = self.written(&transaction).await;
                self.memory().consumed.note(&before, &transaction);
            }
            Sabotage::RetentionIgnoresReplay => self.memory().calendar.note(&transaction),
            Sabotage::EdgesForgotten => flows::forget_new_edges(&mut transaction),
            Sabotage::RequestsForgotten => {
                executions(&mut transaction).for_each(|execution| execution.requests = RequestLog::default());
            }
            Sabotage::StepsForgotten => self.forget_steps(&mut transaction).await,
            Sabotage::StepsGoWithLeases => self.drop_steps(&mut transaction).await,
            Sabotage::StepsOfOtherLeases => steps::raise_epochs(&mut transaction),
            Sabotage::StepsOverwritten => self.write_over(&mut transaction).await,
            Sabotage::StepPlacesReused => self.keep_places(&mut transaction).await,
            Sabotage::StepsMiscounted => self.keep_counts(&mut transaction).await,
            Sabotage::StepOutputsMixedUp => steps::mix_up_outputs(&mut transaction),
            Sabotage::StepCostsForgotten => steps::forget_costs(&mut transaction),
            Sabotage::WaitsRecordedEarly => steps::record_waits_early(&mut transaction),
            Sabotage::ReplayForgetsAll => self.forget_at_replays(&mut transaction).await,
            Sabotage::StepsHidden
            | Sabotage::WaitsHidden
            | Sabotage::NoFence
            | Sabotage::SlotKeyedByExecution
            | Sabotage::GenerationCheckRemoved
            | Sabotage::UnopenedFlowGoes
            | Sabotage::ReportsUnnamed
            | Sabotage::GapsUnsaid => {}
        }
        transaction
    }

    /// The records a transaction writes or guards, as they are now.
    pub(super) async fn written(&self, transaction: &Transaction) -> Snapshot {
        let puts = transaction.puts.iter().map(|put| put.record.key());
        let guards = transaction.guards.iter().map(|(key, _)| key.clone());
        let deletes = transaction.deletes.iter().map(|delete| delete.key.clone());
        let keys: Vec<RecordKey> = puts.chain(guards).chain(deletes).collect();
        let loaded = self.inner.load(vec![Load::records(transaction.partition, keys)]).await;
        let loaded = loaded.expect("the store below answers");
        loaded.into_iter().next().expect("a load is answered")
    }

    /// Whatever a record is, this is what it was computed from.
    async fn overwrite(&self, transaction: &mut Transaction) {
        let now = self.written(transaction).await;
        for put in transaction.puts.iter_mut().filter(|put| put.expected.is_some()) {
            if let Some((before, version)) = now.records.get(&put.record.key()) {
                *put = Put::replace(put.record.clone(), (before, *version));
            }
        }
        for (key, version) in &mut transaction.guards {
            *version = now.version(key).or(*version);
        }
        for delete in &mut transaction.deletes {
            if let Some((before, version)) = now.records.get(&delete.key) {
                *delete = Delete::of((before, *version));
            }
        }
    }

    /// Counters move first, beside a record that does not matter, and whether or not the rest lands.
    async fn send_increments_ahead(&self, transaction: &mut Transaction) {
        let increments = std::mem::take(&mut transaction.increments);
        if increments.is_empty() {
            return;
        }
        let mut ahead = Transaction::new(transaction.partition, Tag(self.luck.next() >> 11));
        ahead.increments = increments;
        ahead.puts.push(self.pretext(transaction));
        self.inner.commit(vec![ahead]).await;
    }

    fn pretext(&self, transaction: &Transaction) -> Put {
        let key = format!("pretext-{:x}", self.luck.next());
        let record = SubmissionKeyRecord {
            scope: IdempotencyScope::Namespace(ff_core::name::Namespace::default_namespace()),
            key: IdempotencyKey::parse(key).expect("a good key"),
            execution_id: ExecutionId::new(transaction.partition.index, self.luck.uuid()),
            content_digest: String::new(),
            carried: Default::default(),
        };
        Put {
            ttl: Some(Duration::from_secs(1)),
            ..Put::create(Record::SubmissionKey(record))
        }
    }

    async fn keep_epochs(&self, transaction: &mut Transaction) {
        let before = self.written(transaction).await;
        for execution in executions(transaction) {
            let Some(stored) = before.execution(&RecordKey::Execution(execution.id)) else {
                continue;
            };
            let epoch = stored.lease_epoch;
            let taken = stored.lease().is_none();
            if let Phase::Active(lease) = &mut execution.phase
                && taken
            {
                lease.epoch = epoch;
                execution.lease_epoch = epoch;
            }
        }
    }
}

/// The executions a transaction writes.
pub(super) fn executions(transaction: &mut Transaction) -> impl Iterator<Item = &mut Execution> {
    transaction.puts.iter_mut().filter_map(|put| match &mut put.record {
        Record::Execution(execution) => Some(&mut **execution),
        _ => None,
    })
}
