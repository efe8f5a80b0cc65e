//! A store under test.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ff_core::command::submit::CreateExecution;
use ff_core::error::Rejection;
use ff_core::id::{ExecutionId, FlowId};
use ff_core::machine::submit::{Known, create};
use ff_core::machine::{Context, Decided, Settings};
use ff_core::name::ExecutionKind;
use ff_core::partition::{Partition, PartitionCounts};
use ff_core::payload::Payload;
use ff_core::record::{Execution, Gate, GateState, Record, RecordKey};
use ff_core::time::{Duration, Timestamp};
use uuid::Uuid;

use super::random::scramble;
use super::records;
use crate::Backend;
use crate::conformance::Harness;
use crate::load::{Load, Snapshot};
use crate::transaction::{CommitError, Committed, Put, Tag, Transaction, Version};

/// A store under test, with fresh ids that are the same in every run.
pub(crate) struct Store<'h> {
    harness: &'h dyn Harness,
    backend: Arc<dyn Backend>,
    serial: AtomicU64,
}

impl<'h> Store<'h> {
    /// The store of `harness`.
    pub(crate) fn of(harness: &'h dyn Harness) -> Self {
        Self {
            harness,
            backend: harness.backend(),
            serial: AtomicU64::new(0),
        }
    }

    /// What is tried.
    pub(crate) fn backend(&self) -> Arc<dyn Backend> {
        Arc::clone(&self.backend)
    }

    /// What gave the store.
    pub(crate) fn harness(&self) -> &dyn Harness {
        self.harness
    }

    /// How many partitions there are.
    pub(crate) fn counts(&self) -> PartitionCounts {
        self.harness.counts()
    }

    /// Moves the store's clock.
    pub(crate) async fn advance(&self, by: Duration) {
        self.harness.advance(by).await;
    }

    /// The store's time in its first partition.
    pub(crate) async fn now(&self) -> Timestamp {
        self.load(Load::records(self.home(), [])).await.now
    }

    /// A number never given before.
    pub(crate) fn serial(&self) -> u64 {
        self.serial.fetch_add(1, Ordering::Relaxed)
    }

    /// A UUID never given before; their order says nothing about their age.
    pub(crate) fn uuid(&self) -> Uuid {
        let serial = self.serial();
        Uuid::from_u64_pair(scramble(serial), serial)
    }

    /// A tag never given before, of all 64 bits.
    pub(crate) fn tag(&self) -> Tag {
        Tag(scramble(self.serial()))
    }

    /// The partition of everything that is not said to live elsewhere.
    pub(crate) const fn home(&self) -> Partition {
        Partition::flow(0)
    }

    /// A fresh id at home.
    pub(crate) fn id(&self) -> ExecutionId {
        self.id_in(self.home())
    }

    /// A fresh id in `partition`.
    pub(crate) fn id_in(&self, partition: Partition) -> ExecutionId {
        ExecutionId::new(partition.index, self.uuid())
    }

    /// The submission of a small execution with nothing special about it.
    pub(crate) fn command(&self) -> CreateExecution {
        let kind = ExecutionKind::parse("conformance").expect("a kind");
        CreateExecution::new(kind, Payload::binary("input"))
    }

    /// Submits `command` under a fresh id at home.
    pub(crate) async fn submit(&self, command: CreateExecution) -> Execution {
        self.submit_as(self.id(), command).await
    }

    /// Submits `command` as `id`.
    pub(crate) async fn submit_as(&self, id: ExecutionId, command: CreateExecution) -> Execution {
        let now = self.load(Load::records(id.partition(), [])).await.now;
        self.commit(submission(&command, id, now, self.tag())).await;
        self.execution(id).await
    }

    /// Submits many executions in few calls.
    pub(crate) async fn submit_all(&self, commands: Vec<(ExecutionId, CreateExecution)>) {
        let now = self.now().await;
        for chunk in commands.chunks(500) {
            let batch = chunk
                .iter()
                .map(|(id, command)| submission(command, *id, now, self.tag()))
                .collect();
            for answer in self.backend.commit(batch).await {
                answer.expect("a submission is accepted");
            }
        }
    }

    /// Creates a flow behind a gate in this state.
    pub(crate) async fn flow(&self, state: GateState) -> FlowId {
        let flow_id = FlowId::from_uuid(self.uuid());
        let partition = self.counts().of_flow(flow_id);
        let now = self.load(Load::records(partition, [])).await.now;
        let flow = Record::from(records::flow(flow_id, now));
        let gate = Record::from(Gate { flow_id, state });
        self.commit(self.creation(partition, [flow, gate])).await;
        flow_id
    }

    /// Submits a member of a flow.
    pub(crate) async fn member(&self, flow_id: FlowId) -> Execution {
        let id = self.id_in(self.counts().of_flow(flow_id));
        let command = CreateExecution {
            flow_id: Some(flow_id),
            ..self.command()
        };
        self.submit_as(id, command).await
    }

    /// A transaction of `partition` that does nothing yet.
    pub(crate) fn transaction(&self, partition: Partition) -> Transaction {
        Transaction::new(partition, self.tag())
    }

    /// A transaction that creates `records`.
    pub(crate) fn creation(&self, partition: Partition, records: impl IntoIterator<Item = Record>) -> Transaction {
        let puts = records.into_iter().map(Put::create).collect();
        Transaction {
            puts,
            ..self.transaction(partition)
        }
    }

    /// A transaction that replaces the writing `expected` of an execution, which stays in its lists.
    pub(crate) fn replacement(&self, execution: &Execution, expected: Version) -> Transaction {
        let record = Record::from(execution.clone());
        let put = Put::replace(record.clone(), (&record, expected));
        Transaction {
            puts: vec![put],
            ..self.transaction(execution.id.partition())
        }
    }

    /// Commits one transaction that must land.
    pub(crate) async fn commit(&self, transaction: Transaction) -> Committed {
        self.try_commit(transaction).await.expect("the commit lands")
    }

    /// Commits one transaction.
    pub(crate) async fn try_commit(&self, transaction: Transaction) -> Result<Committed, CommitError> {
        let mut answers = self.backend.commit(vec![transaction]).await;
        assert_eq!(answers.len(), 1, "one answer per transaction");
        answers.remove(0)
    }

    /// Reads one snapshot of a partition.
    pub(crate) async fn load(&self, load: Load) -> Snapshot {
        let mut snapshots = self.backend.load(vec![load]).await.expect("the store answers");
        assert_eq!(snapshots.len(), 1, "one snapshot per load");
        snapshots.remove(0)
    }

    /// Reads one record of `partition`.
    pub(crate) async fn record(&self, partition: Partition, key: RecordKey) -> Option<(Record, Version)> {
        let mut snapshot = self.load(Load::records(partition, [key.clone()])).await;
        snapshot.records.remove(&key)
    }

    /// An execution as it is stored.
    pub(crate) async fn execution(&self, id: ExecutionId) -> Execution {
        self.versioned(id).await.0
    }

    /// An execution as it is stored, with its version.
    pub(crate) async fn versioned(&self, id: ExecutionId) -> (Execution, Version) {
        match self.record(id.partition(), RecordKey::Execution(id)).await {
            Some((Record::Execution(execution), version)) => (*execution, version),
            other => panic!("execution {id} is stored, found {other:?}"),
        }
    }

    /// Applies a rule to an execution as it is stored, and commits what it says.
    pub(crate) async fn apply<O>(
        &self,
        id: ExecutionId,
        rule: impl FnOnce(&Execution, &Context) -> Result<Decided<O>, Rejection>,
    ) -> O {
        let snapshot = self.surroundings(id).await;
        let execution = snapshot
            .execution(&RecordKey::Execution(id))
            .expect("the execution is stored");
        let context = self.context(execution, &snapshot);
        let decided = rule(execution, &context).expect("the rule accepts it");
        if !decided.draft.is_empty() {
            self.commit(Transaction::bind(decided.draft, &snapshot, self.tag()))
                .await;
        }
        decided.outcome
    }

    /// An execution together with the gate of its flow.
    pub(crate) async fn surroundings(&self, id: ExecutionId) -> Snapshot {
        let flow = self.execution(id).await.definition.flow;
        let keys: Vec<RecordKey> = flow
            .map(RecordKey::Gate)
            .into_iter()
            .chain([RecordKey::Execution(id)])
            .collect();
        self.load(Load::records(id.partition(), keys)).await
    }

    fn context(&self, execution: &Execution, snapshot: &Snapshot) -> Context {
        let gate = execution
            .definition
            .flow
            .and_then(|flow| snapshot.gate(&RecordKey::Gate(flow)));
        Context {
            dice: scramble(self.serial()),
            gate: gate.map(|gate| gate.state),
            ..Context::engine(snapshot.now)
        }
    }
}

/// The transaction that submits `command` as `id`. The largest payloads of the suite are larger than the default limit.
pub(crate) fn submission(command: &CreateExecution, id: ExecutionId, now: Timestamp, tag: Tag) -> Transaction {
    let settings = Settings {
        payload_bytes_max: usize::MAX,
        ..Settings::default()
    };
    let context = Context {
        settings,
        ..Context::engine(now)
    };
    let decided = create(command, id, Known::default(), &context).expect("a valid submission");
    Transaction::bind(decided.draft, &Snapshot::empty(id.partition(), now), tag)
}
